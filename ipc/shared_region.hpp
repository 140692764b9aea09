// Memory that the daemon makes and both sides map: a memfd whose size nobody can change any more (decision
// 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ipc/unique_fd.hpp"

namespace rocem::ipc {

enum class Access : std::uint8_t { read_only, read_write };

// A mapping with one owner.
class Mapping {
 public:
    Mapping() = default;
    Mapping(Mapping&& other) noexcept
        : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { reset(); }

    // MAP_SHARED. The child of a fork does not have it if `in_children` is false. Empty on failure: errno
    // says why.
    static Mapping map(int fd, std::size_t bytes, Access access, bool in_children);

    std::byte* data() const { return address_; }
    std::size_t size() const { return bytes_; }
    std::span<std::byte> bytes() const { return {address_, bytes_}; }
    explicit operator bool() const { return address_ != nullptr; }
    void reset();

 private:
    std::byte* address_ = nullptr;
    std::size_t bytes_ = 0;
};

struct SharedRegion {
    UniqueFd fd;
    Mapping mapping;

    explicit operator bool() const { return static_cast<bool>(mapping); }
};

// Who may write.
enum class Writers : std::uint8_t {
    both,
    maker,  // F_SEAL_FUTURE_WRITE: nobody else can map it for writing, or write it
};

// Daemon: a zeroed region of `bytes` (made whole pages), sealed (F_SEAL_SHRINK, GROW, SEAL), mapped
// read-write. Pages come when they are touched. Empty on failure: errno says why. `name` shows up in
// /proc/PID/maps.
SharedRegion make_region(const char* name, std::size_t bytes, Writers writers = Writers::both);

// Daemon: text that is sealed against all change, to be passed on. Invalid on failure.
UniqueFd make_sealed_text(const char* name, std::span<const char> text);

std::size_t whole_pages(std::size_t bytes);

// Client: maps a descriptor that came from the daemon, after making sure that it is a memfd of at least
// `bytes` whose size is sealed: otherwise a page could vanish under us (SIGBUS). Not inherited by forked
// children. Empty: errno is EPROTO (not sealed, too small), or mmap's.
Mapping map_sealed(int fd, std::size_t bytes, Access access);

}  // namespace rocem::ipc
