// Between the control thread and one worker: two bounded queues, and what each may see of the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/control/command_queue.hpp"
#include "daemon/worker_messages.hpp"

namespace rocem::daemon {

// Requests of one session that a worker may have at a time; the control thread reads no further ones
// meanwhile.
inline constexpr std::size_t session_requests_max = 8;

// Written by the worker, read by anybody.
struct WorkerLoad {
    std::atomic<std::uint64_t> turns{0};
    std::atomic<std::uint64_t> busy_turns{0};  // turns that found work
    std::atomic<std::uint64_t> sleeps{0};
};

struct WorkerLink {
    // Queues that cannot be full: every session has session_requests_max requests, its opening and its end,
    // and a violation, and nothing else.
    WorkerLink(std::size_t sessions_max, Waker& answer_waker_of_control)
        : commands(sessions_max * (session_requests_max + 2)),
          answers(sessions_max * (session_requests_max + 3)),
          answer_waker(answer_waker_of_control) {}

    CommandQueue<WorkerCommand> commands;  // control -> worker
    Waker command_waker;
    CommandQueue<WorkerAnswer> answers;  // worker -> control
    Waker& answer_waker;                 // one for all workers
    WorkerLoad load;
};

}  // namespace rocem::daemon
