// Atomic request and its answer. On the wire the swap (or add) operand comes first, compare second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct AtomicEth {
    static constexpr std::size_t size = 28;

    std::uint64_t va = 0;
    RKey r_key;
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;  // zero for FETCH_ADD

    static AtomicEth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const AtomicEth&, const AtomicEth&) = default;
};

struct AtomicAckEth {
    static constexpr std::size_t size = 8;

    std::uint64_t original = 0;  // the value before the operation

    static AtomicAckEth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const AtomicAckEth&, const AtomicAckEth&) = default;
};

}  // namespace rocem::protocol
