// UDP header (RFC 768) and the source ports of RoCE v2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

inline constexpr std::uint16_t roce_v2_port = 4791;

struct Udp {
    static constexpr std::size_t size = 8;

    std::uint16_t source_port = 0;
    std::uint16_t destination_port = roce_v2_port;
    std::uint16_t length = 0;
    std::uint16_t checksum = 0;  // 0: none

    static Udp decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Udp&, const Udp&) = default;
};

// Source port 0xC000..0xFFFF of a flow label (annex A17; rdma-core's ibv_flow_label_to_udp_sport).
std::uint16_t udp_source_port(std::uint32_t flow_label);
// The flow label of a connected pair that set none: the same from both sides.
std::uint32_t flow_label_of(Qpn local, Qpn remote);

}  // namespace rocem::protocol
