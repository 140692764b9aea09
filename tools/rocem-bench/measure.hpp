// What is measured, on one core.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/nic/frame_buffer.hpp"
#include "tools/rocem-bench/engine_side.hpp"

namespace rocem::tools {

struct Figure {
    std::string name;
    double gigabits_per_s = 0;  // of payload
    double per_s = 0;           // messages; frames for a ceiling
    double packets_per_s = 0;   // both directions
    double ceiling_ratio = 0;   // 0: none
};

extern const std::vector<Workload> workloads;

// The ceiling: payload_bytes copied into a frame, ICRC, net_ring, ICRC, copied out. No protocol.
Figure measure_ceiling(std::uint32_t payload_bytes, daemon::FramePool& pool,
                       std::chrono::duration<double> duration);

// Two engines on the virtual wire, both on this thread.
Figure measure_engines(const Workload& workload, daemon::FramePool& pool,
                       std::chrono::duration<double> duration);

// Messages of a workload between two engines over plain memory: for counting instructions. Returns the
// packets sent.
std::uint64_t run_engines(const Workload& workload, std::uint64_t messages);

}  // namespace rocem::tools
