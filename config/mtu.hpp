// How path MTU, interface MTU and frame size hang together.
//
// A path MTU counts payload only. The largest packet for it is an XRC WRITE ONLY with immediate data over
// IPv6; the interface's MTU counts from its IP header to its ICRC, a frame from its Ethernet header.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/units.hpp"

namespace rocem::config {

// IPv6 40, UDP 8, BTH 12, XRCETH 4, RETH 16, ImmDt 4, ICRC 4. (Linux rxe counts 80: without XRCETH and
// ICRC, so that a large WRITE with immediate data does not fit an interface that it calls big enough.)
inline constexpr std::uint32_t packet_overhead_bytes_max = 40 + 8 + 12 + 4 + 16 + 4 + 4;

// Ethernet 14, two VLAN tags 8; the frame check sequence is never seen.
inline constexpr std::uint32_t frame_overhead_bytes_max = packet_overhead_bytes_max + 14 + 8;

// What af_packet keeps in a ring slot before the frame: TPACKET2_HDRLEN, alignment, room for 16 bytes of
// link-layer header (packet(7), tpacket_rcv in the kernel).
inline constexpr std::uint32_t af_packet_slot_overhead_bytes = 80;

std::uint32_t required_interface_mtu(protocol::PathMtu path_mtu);
std::uint32_t largest_frame_bytes(protocol::PathMtu path_mtu);

// The largest path MTU whose packets fit an interface; nothing if not even 256 does. An interface of 1500
// gives 1024, 9000 gives 4096, 1280 gives 1024.
std::optional<protocol::PathMtu> active_mtu_for_interface(std::uint32_t interface_mtu_bytes);

}  // namespace rocem::config
