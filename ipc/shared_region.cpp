#include "ipc/shared_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace rocem::ipc {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

UniqueFd make_memfd(const char* name) {
    return UniqueFd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        reset();
        address_ = std::exchange(other.address_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

void Mapping::reset() {
    if (address_ != nullptr) ::munmap(address_, bytes_);
    address_ = nullptr;
    bytes_ = 0;
}

Mapping Mapping::map(int fd, std::size_t bytes, Access access, bool in_children) {
    const int protection = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    Mapping mapping;
    if (address == MAP_FAILED) return mapping;
    mapping.address_ = static_cast<std::byte*>(address);
    mapping.bytes_ = bytes;
    if (!in_children && ::madvise(address, bytes, MADV_DONTFORK) != 0) mapping.reset();
    return mapping;
}

std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

SharedRegion make_region(const char* name, std::size_t bytes, Writers writers) {
    SharedRegion region;
    UniqueFd fd = make_memfd(name);
    if (!fd) return region;
    const std::size_t size = whole_pages(bytes);
    if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return region;
    // Mapped first: F_SEAL_FUTURE_WRITE spares the mappings that there are.
    Mapping mapping = Mapping::map(fd.get(), size, Access::read_write, false);
    if (!mapping) return region;
    const int seals = size_seals | (writers == Writers::maker ? F_SEAL_FUTURE_WRITE : 0);
    if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return region;
    region.fd = std::move(fd);
    region.mapping = std::move(mapping);
    return region;
}

UniqueFd make_sealed_text(const char* name, std::span<const char> text) {
    UniqueFd fd = make_memfd(name);
    if (!fd) return fd;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(fd.get(), text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return UniqueFd();
        done += static_cast<std::size_t>(wrote);
    }
    if (::fcntl(fd.get(), F_ADD_SEALS, size_seals | F_SEAL_WRITE) != 0) return UniqueFd();
    return fd;
}

Mapping map_sealed(int fd, std::size_t bytes, Access access) {
    struct stat facts {};
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & size_seals) != size_seals || ::fstat(fd, &facts) != 0 || bytes == 0 ||
        facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) < bytes) {
        errno = EPROTO;
        return Mapping();
    }
    return Mapping::map(fd, bytes, access, false);
}

}  // namespace rocem::ipc
