// What a packet costs: instructions where the kernel lets us count them, and nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/nic/frame_buffer.hpp"
#include "figures.hpp"

namespace rocem::tools {

struct Costs {
    std::vector<CostFigure> figures;
    std::string why_no_instructions;  // empty if they were counted
};

Costs measure_costs(std::uint64_t packets, daemon::FramePool& pool);

}  // namespace rocem::tools
