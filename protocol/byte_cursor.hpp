// Big-endian loads and stores at fixed offsets of a span. Bounds are the span's extent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocem::protocol {

template <class Int>
constexpr Int load_be(const std::byte* at) {
    Int value = 0;
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
        value =
            static_cast<Int>((static_cast<std::uint64_t>(value) << 8) | std::to_integer<std::uint8_t>(at[i]));
    }
    return value;
}

template <class Int>
constexpr void store_be(std::byte* at, Int value) {
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
        at[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * (sizeof(Int) - 1 - i)));
    }
}
}  // namespace rocem::protocol
