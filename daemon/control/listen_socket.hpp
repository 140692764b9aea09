// The UNIX socket that clients and tools attach to.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "config/settings.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::daemon {

// A listening SEQPACKET socket with the mode and group of the settings. A file that a dead daemon left is
// replaced; a second daemon on the same path is an error. The lock file beside the socket (PATH.lock)
// decides, so that two daemons that start together cannot unlink each other's socket; it stays.
class ListenSocket {
 public:
    static tl::expected<ListenSocket, std::string> open(const config::SocketSettings& settings);

    ListenSocket(ListenSocket&&) noexcept = default;
    ListenSocket& operator=(ListenSocket&&) = delete;
    ListenSocket(const ListenSocket&) = delete;
    ListenSocket& operator=(const ListenSocket&) = delete;
    // Unlinks the path.
    ~ListenSocket();

    int descriptor() const { return socket_.get(); }
    const std::string& path() const { return path_; }

 private:
    ListenSocket(ipc::UniqueFd lock, ipc::UniqueFd socket, std::string path);

    ipc::UniqueFd lock_;
    ipc::UniqueFd socket_;
    std::string path_;
};

}  // namespace rocem::daemon
