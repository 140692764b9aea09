// The Internet checksum (RFC 1071).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

// The one's complement sum, not yet complemented, on top of an earlier one. Only the last part may have odd
// length.
std::uint32_t checksum_add(std::uint32_t sum, std::span<const std::byte> bytes);
// Folds and complements: the value that goes into a header.
std::uint16_t checksum_finish(std::uint32_t sum);

// Sums of the pseudo headers that UDP and ICMPv6 cover (RFC 768, RFC 8200 8.1).
std::uint32_t pseudo_header_sum(const Ipv4Address& source, const Ipv4Address& destination,
                                std::uint8_t protocol, std::uint32_t length);
std::uint32_t pseudo_header_sum(const Ipv6Address& source, const Ipv6Address& destination,
                                std::uint8_t next_header, std::uint32_t length);

}  // namespace rocem::protocol
