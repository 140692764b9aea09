// Ethernet II header and the VLAN tags behind it (802.1Q, QinQ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

inline constexpr std::uint16_t ether_type_ipv4 = 0x0800;
inline constexpr std::uint16_t ether_type_arp = 0x0806;
inline constexpr std::uint16_t ether_type_vlan = 0x8100;
inline constexpr std::uint16_t ether_type_qinq = 0x88a8;
inline constexpr std::uint16_t ether_type_ipv6 = 0x86dd;
inline constexpr std::uint16_t ether_type_roce_v1 = 0x8915;

struct Ethernet {
    static constexpr std::size_t size = 14;

    MacAddress destination;
    MacAddress source;
    std::uint16_t ether_type = 0;  // of what follows: a tag's TPID when there are tags

    static Ethernet decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Ethernet&, const Ethernet&) = default;
};

// What stands behind a TPID: priority, drop eligibility, VLAN, and the EtherType of what follows.
struct Vlan {
    static constexpr std::size_t size = 4;

    std::uint8_t pcp = 0;  // 3 bits
    bool dei = false;
    std::uint16_t vid = 0;  // 12 bits
    std::uint16_t ether_type = 0;

    static Vlan decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Vlan&, const Vlan&) = default;
};

constexpr bool is_vlan_tag(std::uint16_t ether_type) {
    return ether_type == ether_type_vlan || ether_type == ether_type_qinq;
}

}  // namespace rocem::protocol
