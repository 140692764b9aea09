// Instructions that one packet costs, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocem::tools {

struct StepCost {
    std::string step;
    double instructions_per_packet = 0;
};

struct InstructionCounts {
    std::string counted_by;       // "perf_event_open", "callgrind"; or why there is none
    std::vector<StepCost> steps;  // empty: could not be counted
};

// By the CPU's counter where the kernel lets us, else under valgrind where it is installed. program: this
// executable.
InstructionCounts count_instructions(const std::string& program);

// One step over so many packets, for a count from outside. Nothing for an unknown step; else the packets it
// took.
std::optional<std::uint64_t> run_step(const std::string& step, std::uint64_t packets);

}  // namespace rocem::tools
