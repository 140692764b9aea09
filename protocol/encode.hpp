// Packets to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/frame_template.hpp"
#include "protocol/packet.hpp"

namespace rocem::protocol {

// Headers from the BTH on: at most XRCETH + AtomicETH behind it.
inline constexpr std::size_t transport_headers_max = Bth::size + XrcEth::size + AtomicEth::size;
// The largest frame that the engine builds: template, transport headers, payload (no pad at the largest MTU),
// ICRC.
constexpr std::size_t frame_bytes_max(std::size_t path_mtu_bytes) {
    return FrameTemplate::size_max + transport_headers_max + path_mtu_bytes + icrc_bytes;
}

inline std::size_t transport_header_bytes(const OpcodeInfo& info) {
    return Bth::size + info.extended_header_bytes;
}

// Writes the BTH and the extended headers that roce.info names. out must hold transport_header_bytes. Returns
// their length.
std::size_t encode_transport(const RocePacket& roce, std::span<std::byte> out);

// A whole frame with payload, zero pad (roce.bth.pad_count bytes) and ICRC. Returns its length, 0 if out is
// too small.
std::size_t encode_frame(const FrameTemplate& frame_template, const RocePacket& roce,
                         std::uint16_t ipv4_identification, std::span<std::byte> out);

}  // namespace rocem::protocol
