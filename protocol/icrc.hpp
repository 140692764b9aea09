// The invariant CRC of RoCE frames (annex A17.3.3): CRC-32 (Ethernet polynomial) over eight bytes of ones
// that stand for an LRH, the network headers with every field that may change on the way masked with ones,
// and the transport up to the pad. It stands little endian behind the pad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocem::protocol {

inline constexpr std::size_t icrc_bytes = 4;

// The CRC-32 that zlib and ISA-L compute: crc32(crc32(0, A), B) equals the one over A followed by B.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);
// The same by eight table look-ups per eight bytes: the oracle for the one above, and what it uses on a CPU
// without carry-less multiplication, where ISA-L goes byte by byte.
std::uint32_t crc32_slice_by_8(std::uint32_t crc, std::span<const std::byte> bytes);

// The ICRC of l3: from the first byte of IPv4 (version nibble 4), IPv6 or GRH (6) to the last pad byte, ICRC
// excluded. UDP follows unless the IPv6 header's NxtHdr is 0x1B (RoCE v1). Needs at least the headers up to
// the BTH.
std::uint32_t icrc_of(std::span<const std::byte> l3);

// The same, computed by the oracle.
std::uint32_t icrc_of_slice_by_8(std::span<const std::byte> l3);

// Writes the ICRC into the last four bytes of a frame without trailer, whose IPv4, IPv6 or GRH starts at
// l3_offset.
void seal_icrc(std::span<std::byte> frame, std::size_t l3_offset);

// Whether the last four bytes of l3 (first header byte to ICRC, no trailer) are right.
bool icrc_is_right(std::span<const std::byte> l3);

}  // namespace rocem::protocol
