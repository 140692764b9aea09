// ICMP and ICMPv6 header with the echo fields (RFC 792, RFC 4443).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocem::protocol {

struct Icmp {
    static constexpr std::size_t size = 8;
    static constexpr std::uint8_t v4_echo_reply = 0;
    static constexpr std::uint8_t v4_echo_request = 8;
    static constexpr std::uint8_t v6_echo_request = 128;
    static constexpr std::uint8_t v6_echo_reply = 129;
    static constexpr std::uint8_t v6_neighbor_solicitation = 135;
    static constexpr std::uint8_t v6_neighbor_advertisement = 136;

    std::uint8_t type = 0;
    std::uint8_t code = 0;
    std::uint16_t checksum = 0;
    std::uint32_t rest = 0;  // echo: identifier(16) | sequence(16)

    std::uint16_t identifier() const { return static_cast<std::uint16_t>(rest >> 16); }
    std::uint16_t sequence() const { return static_cast<std::uint16_t>(rest); }

    static Icmp decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;  // checksum as it stands
    friend bool operator==(const Icmp&, const Icmp&) = default;
};

}  // namespace rocem::protocol
