// A RoCE frame as the benchmark's engines send them: WRITE_MIDDLE with a payload of some size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/encode.hpp"

namespace rocem::tools {

protocol::FrameTemplate sample_template();
protocol::RocePacket sample_packet(std::span<const std::byte> payload);
// With its ICRC.
std::vector<std::byte> sample_frame(std::uint32_t payload_bytes);
// Bytes in front of the payload.
std::size_t sample_payload_offset();

}  // namespace rocem::tools
