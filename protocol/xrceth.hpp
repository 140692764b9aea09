// XRC extended transport header: the shared receive queue that an XRC request is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct XrcEth {
    static constexpr std::size_t size = 4;

    std::uint8_t resv8 = 0;
    Qpn srqn;  // 24 bits

    static XrcEth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const XrcEth&, const XrcEth&) = default;
};

}  // namespace rocem::protocol
