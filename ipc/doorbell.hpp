// Who wakes whom, and how (decisions 8, 12 and 13).
//
// Client to worker: the worker raises need_wakeup, looks at all dirty bitmaps once more, and blocks. The
// client marks its queue, then reads the flag, and writes the eventfd if it is up. Both use seq_cst, so one
// of them sees the other.
//
// Daemon to client: the client arms a CQ and polls once more; the worker publishes a completion and takes the
// arm, then sends one datagram on the daemon's end of the channel's socket. A socket that is full stays
// readable until the client has looked into missed_events.
#pragma once

#include <cstdint>

#include "ipc/abi.h"
#include "ipc/dirty_bitmap.hpp"
#include "ipc/layout.hpp"
#include "ipc/shared_word.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::ipc {

// --- client to worker ---

// EFD_NONBLOCK, EFD_CLOEXEC. The daemon arms it edge-triggered and never reads it. Invalid: no descriptor was
// left.
UniqueFd make_doorbell();

// Worker, before its last look at the bitmaps.
inline void announce_sleep(WorkerPage& page) {
    store_shared(page.need_wakeup, std::uint32_t{1}, std::memory_order_seq_cst);
}
inline void announce_awake(WorkerPage& page) {
    store_shared(page.need_wakeup, std::uint32_t{0}, std::memory_order_relaxed);
}

// Client, after mark().
inline bool needs_wakeup(const WorkerPage& page) {
    return load_shared(page.need_wakeup, std::memory_order_seq_cst) != 0;
}
void ring_doorbell(int doorbell);

// --- daemon to client ---

struct SocketPair {
    UniqueFd daemon_end;
    UniqueFd client_end;
};

// Two SEQPACKET sockets, close-on-exec. Invalid: no descriptor was left.
SocketPair make_event_sockets();

enum class Sent : std::uint8_t {
    yes,
    full,  // the client has not read what is there
    gone,  // the client closed its end
};

// Never blocks, whatever the client did to its end.
Sent send_event(int daemon_end, const void* event, std::uint32_t bytes);

// Worker: tells that a CQ has work. When the socket is full, the CQ goes into missed_events; nothing is lost.
Sent send_cq_event(int daemon_end, Bitmap& missed_events, const rocem_abi_cq_event& event);

enum class Received : std::uint8_t {
    event,
    nothing,      // non-blocking, and none is there (EAGAIN)
    interrupted,  // EINTR
    closed,       // end of file: the daemon is gone
    malformed,    // not of this size
};

// Client. Blocks unless the descriptor says O_NONBLOCK.
Received receive_event(int client_end, void* event, std::uint32_t bytes);

// --- arming ---

// Client. An arm for any completion is not lowered to one for solicited ones. The caller polls once more
// afterwards.
void arm_cq(CqHead& head, rocem_abi_arm arm);

// Worker, after a completion was published with seq_cst. True: the arm was set for it and is taken, an event
// is due.
bool take_arm(CqHead& head, bool solicited);

}  // namespace rocem::ipc
