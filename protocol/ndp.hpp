// Neighbour solicitation and advertisement with their link-layer address option (RFC 4861 4.3, 4.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Ndp {
    static constexpr std::size_t size = 24;  // without the option
    static constexpr std::size_t size_with_option = 32;

    enum class Kind : std::uint8_t { solicitation = 135, advertisement = 136 };

    Kind kind = Kind::solicitation;
    std::uint16_t checksum = 0;
    bool router = false;     // advertisement
    bool solicited = false;  // advertisement
    bool override_flag = false;
    Ipv6Address target;
    std::optional<MacAddress> link_layer_address;  // source (NS) or target (NA) option

    // An ICMPv6 message; nothing if it is no NS or NA, too short, or its options are malformed.
    static std::optional<Ndp> decode(std::span<const std::byte> message);
    // Writes size or size_with_option bytes, checksum as it stands; returns how many.
    std::size_t encode(std::span<std::byte, size_with_option> bytes) const;
    friend bool operator==(const Ndp&, const Ndp&) = default;
};

}  // namespace rocem::protocol
