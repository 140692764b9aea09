// Completion queues, and the completions that wait for the owner to take them.
#pragma once

#include <cstdint>

#include "queue_engine/handles.hpp"
#include "queue_engine/ring_buffer.hpp"
#include "queue_engine/slot_table.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::engine {

struct Cq {
    std::uint32_t capacity = 0;
    std::uint32_t users = 0;  // queues that complete here
    bool dead = false;        // overflowed: takes nothing more
};

struct StagedCompletion {
    WorkCompletion completion;
    std::uint32_t life = 0;  // Qp::completion_life when it was staged
};

}  // namespace rocem::engine
