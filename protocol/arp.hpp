// ARP for IPv4 over Ethernet (RFC 826).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Arp {
    static constexpr std::size_t size = 28;
    static constexpr std::uint16_t request = 1;
    static constexpr std::uint16_t reply = 2;

    std::uint16_t operation = request;
    MacAddress sender_mac;
    Ipv4Address sender_ip;
    MacAddress target_mac;
    Ipv4Address target_ip;

    // Nothing for another hardware or protocol type.
    static std::optional<Arp> decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Arp&, const Arp&) = default;
};

}  // namespace rocem::protocol
