#include "ipc/doorbell.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace rocem::ipc {

UniqueFd make_doorbell() {
    return UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

void ring_doorbell(int doorbell) {
    const std::uint64_t one = 1;
    // EAGAIN would mean 2^64 - 2 kicks that nobody read: then there is an edge to come all the same.
    while (::write(doorbell, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

SocketPair make_event_sockets() {
    std::array<int, 2> ends{-1, -1};
    SocketPair pair;
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return pair;
    pair.daemon_end = UniqueFd(ends[0]);
    pair.client_end = UniqueFd(ends[1]);
    return pair;
}

Sent send_event(int daemon_end, const void* event, std::uint32_t bytes) {
    for (;;) {
        if (::send(daemon_end, event, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Sent::yes;
        if (errno == EINTR) continue;
        return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? Sent::full : Sent::gone;
    }
}

Sent send_cq_event(int daemon_end, Bitmap& missed_events, const rocem_abi_cq_event& event) {
    const Sent sent = send_event(daemon_end, &event, sizeof(event));
    if (sent != Sent::full) return sent;
    mark(missed_events, event.cq_slot);
    // The client may have emptied the socket before it could see the mark: then this one makes it look.
    const rocem_abi_cq_event look{ROCEM_ABI_CQ_NONE, 0};
    const Sent again = send_event(daemon_end, &look, sizeof(look));
    return again == Sent::gone ? again : Sent::yes;
}

Received receive_event(int client_end, void* event, std::uint32_t bytes) {
    const ssize_t got = ::recv(client_end, event, bytes, MSG_TRUNC);
    if (got < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return Received::nothing;
        return errno == EINTR ? Received::interrupted : Received::closed;
    }
    if (got == 0) return Received::closed;
    return got == static_cast<ssize_t>(bytes) ? Received::event : Received::malformed;
}

void arm_cq(CqHead& head, rocem_abi_arm arm) {
    const std::atomic_ref<std::uint32_t> word(head.arm);
    std::uint32_t now = word.load(std::memory_order_relaxed);
    const auto wanted = static_cast<std::uint32_t>(arm);
    // A write even when nothing changes: the poll that follows must not be older than the arm.
    while (!word.compare_exchange_weak(now, std::max(now, wanted), std::memory_order_seq_cst)) {
    }
}

bool take_arm(CqHead& head, bool solicited) {
    const std::atomic_ref<std::uint32_t> word(head.arm);
    std::uint32_t now = word.load(std::memory_order_seq_cst);
    for (;;) {
        const bool due = now == ROCEM_ABI_ARM_ANY || (now == ROCEM_ABI_ARM_SOLICITED && solicited);
        if (!due) return false;
        if (word.compare_exchange_weak(now, ROCEM_ABI_ARM_NONE, std::memory_order_seq_cst)) return true;
    }
}

}  // namespace rocem::ipc
