#include "daemon/control/listen_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace rocem::daemon {
namespace {

using Failure = tl::unexpected<std::string>;

Failure failure(const std::string& what, int error) {
    return Failure(fmt::format("{}: {}", what, std::strerror(error)));
}

tl::expected<sockaddr_un, std::string> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return Failure(
            fmt::format("socket path {} is longer than {} bytes", path, sizeof(address.sun_path) - 1));
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

tl::expected<ipc::UniqueFd, std::string> take_lock(const std::string& path) {
    const std::string name = path + ".lock";
    ipc::UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock) return failure(fmt::format("cannot open {}", name), errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return Failure(fmt::format("another daemon listens on {} (it holds {})", path, name));
    }
    return lock;
}

// Removes the socket of a daemon that died. Anything else at the path is left alone, and said.
std::optional<std::string> remove_stale(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return std::nullopt;
        return failure(fmt::format("cannot look at {}", path), errno).value();
    }
    if (!S_ISSOCK(status.st_mode)) return fmt::format("{} exists and is not a socket", path);
    const ipc::UniqueFd probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!probe) return failure("cannot make a socket", errno).value();
    const int connected =
        ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    if (connected == 0 || errno != ECONNREFUSED) return fmt::format("another program listens on {}", path);
    if (::unlink(path.c_str()) != 0)
        return failure(fmt::format("cannot remove the old socket {}", path), errno).value();
    return std::nullopt;
}

tl::expected<gid_t, std::string> group_named(const std::string& name) {
    std::vector<char> buffer(16 * 1024);
    group entry{};
    group* found = nullptr;
    ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return Failure(fmt::format("socket group {} does not exist", name));
    return entry.gr_gid;
}

}  // namespace

tl::expected<ListenSocket, std::string> ListenSocket::open(const config::SocketSettings& settings) {
    const auto address = address_of(settings.path);
    if (!address) return Failure(address.error());
    auto lock = take_lock(settings.path);
    if (!lock) return Failure(lock.error());
    if (auto problem = remove_stale(settings.path, *address)) return Failure(*problem);

    ipc::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return failure("cannot make a socket", errno);
    // bind() makes the file with the mode of the descriptor: nobody gets in before mode and group are right.
    if (::fchmod(socket.get(), 0) != 0) return failure("cannot prepare the socket", errno);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
        return failure(fmt::format("cannot listen on {}", settings.path), errno);
    }
    ListenSocket listener(std::move(*lock), std::move(socket), settings.path);
    if (!settings.group.empty()) {
        const auto group = group_named(settings.group);
        if (!group) return Failure(group.error());
        if (::chown(settings.path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
            return failure(fmt::format("cannot give {} to group {}", settings.path, settings.group), errno);
        }
    }
    if (::chmod(settings.path.c_str(), settings.mode) != 0) {
        return failure(fmt::format("cannot set the mode of {}", settings.path), errno);
    }
    if (::listen(listener.descriptor(), 128) != 0) {
        return failure(fmt::format("cannot listen on {}", settings.path), errno);
    }
    return listener;
}

ListenSocket::ListenSocket(ipc::UniqueFd lock, ipc::UniqueFd socket, std::string path)
    : lock_(std::move(lock)), socket_(std::move(socket)), path_(std::move(path)) {}

ListenSocket::~ListenSocket() {
    if (socket_) ::unlink(path_.c_str());
}

}  // namespace rocem::daemon
