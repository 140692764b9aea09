// IPv4 header without options (RFC 791). A header with options is decoded as far as its fixed part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

inline constexpr std::uint8_t ip_protocol_icmp = 1;
inline constexpr std::uint8_t ip_protocol_udp = 17;
inline constexpr std::uint8_t ip_protocol_icmpv6 = 58;

struct Ipv4 {
    static constexpr std::size_t size = 20;

    std::uint8_t version = 4;  // 4 bits
    std::uint8_t ihl = 5;      // header length in 32-bit words
    std::uint8_t tos = 0;      // DSCP(6) | ECN(2)
    std::uint16_t total_length = 0;
    std::uint16_t identification = 0;
    bool reserved_flag = false;
    bool dont_fragment = false;
    bool more_fragments = false;
    std::uint16_t fragment_offset = 0;  // 13 bits, units of 8 bytes
    std::uint8_t ttl = 64;
    std::uint8_t protocol = ip_protocol_udp;
    std::uint16_t header_checksum = 0;
    Ipv4Address source;
    Ipv4Address destination;

    static Ipv4 decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;  // header_checksum as it stands
    // The right checksum of this header (options excluded).
    std::uint16_t computed_checksum() const;
    // Whether the header as it stands on the wire, options included, sums up (RFC 1071).
    static bool checksum_is_right(std::span<const std::byte> header);
    friend bool operator==(const Ipv4&, const Ipv4&) = default;
};

}  // namespace rocem::protocol
