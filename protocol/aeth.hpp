// ACK extended transport header: a syndrome (see syndrome.hpp) and the responder's message sequence number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Aeth {
    static constexpr std::size_t size = 4;

    std::uint8_t syndrome = 0;
    Msn msn;

    static Aeth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Aeth&, const Aeth&) = default;
};

}  // namespace rocem::protocol
