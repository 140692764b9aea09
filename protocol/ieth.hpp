// Invalidate extended transport header: the key that a SEND with invalidate ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Ieth {
    static constexpr std::size_t size = 4;

    RKey r_key;

    static Ieth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Ieth&, const Ieth&) = default;
};

}  // namespace rocem::protocol
