// What one core can do at most: the bytes of a frame are copied and checksummed on each side and pass
// net_ring, and nothing else happens.
#pragma once

#include <cstdint>

#include "daemon/nic/frame_buffer.hpp"
#include "figures.hpp"

namespace rocem::tools {

// Throws std::runtime_error where the machine does not give what is asked for.
CeilingFigure measure_ceiling(std::uint32_t payload_bytes, double seconds, daemon::FramePool& pool);

}  // namespace rocem::tools
