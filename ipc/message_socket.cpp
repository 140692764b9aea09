#include "ipc/message_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rocem::ipc {
namespace {

// One more than is allowed, so that too many are seen instead of cut off silently.
constexpr std::size_t fds_room = ROCEM_ABI_FDS_MAX + 1;

union ControlBuffer {
    cmsghdr aligned;
    std::array<char, CMSG_SPACE(sizeof(int) * fds_room)> bytes;
};

int flags_of(Wait wait) {
    return wait == Wait::dont_wait ? MSG_DONTWAIT : 0;
}

// Takes over every descriptor of the message, also those that have no place: they close here.
std::size_t collect_fds(msghdr& header, std::array<UniqueFd, ROCEM_ABI_FDS_MAX>& fds) {
    std::size_t count = 0;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t here = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < here; ++i, ++count) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
            UniqueFd owner(fd);
            if (count < fds.size()) fds[count] = std::move(owner);
        }
    }
    return count;
}

}  // namespace

Transfer send_message(int socket, std::span<const std::byte> message, std::span<const int> fds, Wait wait) {
    iovec part{const_cast<std::byte*>(message.data()), message.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    ControlBuffer control{};
    if (!fds.empty()) {
        const std::size_t fd_bytes = std::min<std::size_t>(fds.size(), ROCEM_ABI_FDS_MAX) * sizeof(int);
        header.msg_control = control.bytes.data();
        header.msg_controllen = CMSG_SPACE(fd_bytes);
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(fd_bytes);
        std::memcpy(CMSG_DATA(rights), fds.data(), fd_bytes);
    }
    for (;;) {
        if (::sendmsg(socket, &header, MSG_NOSIGNAL | flags_of(wait)) >= 0) return Transfer::done;
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return Transfer::would_block;
        return errno == EPIPE || errno == ECONNRESET ? Transfer::closed : Transfer::failed;
    }
}

Transfer receive_message(int socket, ReceivedMessage& message, Wait wait) {
    iovec part{message.buffer.data(), message.buffer.size()};
    ControlBuffer control{};
    msghdr header{};
    ssize_t got = -1;
    do {
        header = {};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control.bytes.data();
        header.msg_controllen = control.bytes.size();
        got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags_of(wait));
    } while (got < 0 && errno == EINTR);
    message.size = 0;
    message.fd_count = 0;
    if (got < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return Transfer::would_block;
        return errno == ECONNRESET ? Transfer::closed : Transfer::failed;
    }
    for (UniqueFd& fd : message.fds)
        fd.reset();
    const std::size_t fd_count = collect_fds(header, message.fds);
    if (got == 0) return Transfer::closed;
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || fd_count > message.fds.size())
        return Transfer::malformed;
    message.size = static_cast<std::size_t>(got);
    message.fd_count = fd_count;
    return Transfer::done;
}

}  // namespace rocem::ipc
