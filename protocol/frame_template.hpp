// The headers in front of a BTH, built once per path and copied into every frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/ethernet.hpp"
#include "protocol/ids.hpp"

namespace rocem::protocol {

struct PathHeaders {
    MacAddress source_mac;
    MacAddress destination_mac;
    std::optional<Vlan> vlan;  // its ether_type is filled in
    Gid source_gid;            // both IPv4 mapped, or both IPv6
    Gid destination_gid;
    std::uint8_t traffic_class = 0;  // IPv4 ToS: DSCP(6) | ECN(2)
    std::uint8_t hop_limit = 0;      // 0: 64
    std::uint32_t flow_label = 0;    // 20 bits, IPv6 only
    std::uint16_t udp_source_port = 0xc000;
    bool roce_v1 = false;
};

struct FrameTemplate {
    static constexpr std::size_t size_max = 14 + 4 + 40 + 8;

    std::array<std::byte, size_max> bytes{};
    std::uint8_t size = 0;  // up to the first BTH byte
    std::uint8_t l3_offset = 0;
    std::uint8_t udp_offset = 0;  // 0: RoCE v1
    bool is_ipv4 = false;
    std::uint32_t ipv4_sum = 0;  // of the IPv4 header with lengths, identification and checksum at 0
};

FrameTemplate build_template(const PathHeaders& path);

void set_destination_mac(FrameTemplate& frame_template, const MacAddress& mac);

// Copies the headers to out and sets their lengths for transport_bytes behind them (BTH to ICRC). IPv4:
// identification and header checksum; DF is set. UDP checksum: none. Returns the offset of the BTH.
std::size_t write_headers(const FrameTemplate& frame_template, std::span<std::byte> out,
                          std::size_t transport_bytes, std::uint16_t ipv4_identification);

}  // namespace rocem::protocol
