// IPv6 header (RFC 8200) and the GRH of RoCE v1, which has the same shape (IBTA 8.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Ipv6 {
    static constexpr std::size_t size = 40;

    std::uint8_t version = 6;  // 4 bits
    std::uint8_t traffic_class = 0;
    std::uint32_t flow_label = 0;  // 20 bits
    std::uint16_t payload_length = 0;
    std::uint8_t next_header = 17;
    std::uint8_t hop_limit = 64;
    Ipv6Address source;
    Ipv6Address destination;

    static Ipv6 decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Ipv6&, const Ipv6&) = default;
};

// Global route header: NxtHdr 0x1B says a base transport header follows; addresses are GIDs.
using Grh = Ipv6;
inline constexpr std::uint8_t grh_next_header_ib = 0x1b;

}  // namespace rocem::protocol
