// A plan cut into phases (one verb, one size) and windows: both programs compute the same.
#pragma once

#include <cstdint>
#include <vector>

#include "exchange.hpp"
#include "options.hpp"

namespace rocem::tools {

// One verb with one size. Its messages go in windows of at most `depth`, message i of a window in slot i of
// the buffers.
struct Phase {
    Verb verb = Verb::send;
    std::uint32_t size = 0;  // bytes
    std::uint32_t depth = 1;
    std::uint64_t messages = 0;
    std::uint64_t seed = 0;  // of its pattern
};

// Throws Failure when the plan is not one that this version understands.
std::vector<Phase> phases_of(const Plan& plan);

// Bytes from slot to slot.
std::uint64_t slot_bytes(const Phase& phase);

// Bytes of a buffer with room for each phase's slots.
std::uint64_t buffer_bytes(const std::vector<Phase>& phases);

// The atomics of a phase, one after the other, on one word of the server's buffer.
class AtomicScript {
 public:
    explicit AtomicScript(const Phase& phase);

    struct Step {
        std::uint64_t compare_add = 0;
        std::uint64_t swap = 0;
        std::uint64_t original = 0;  // what the word holds before
    };

    Step next();
    std::uint64_t word() const { return word_; }  // what it holds now

 private:
    Verb verb_;
    std::uint64_t word_;
    std::uint64_t steps_ = 0;
};

}  // namespace rocem::tools
