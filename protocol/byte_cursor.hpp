// Big-endian loads and stores at fixed offsets of a span. Bounds are the span's extent.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rocem::protocol {

namespace detail {

template <class Int>
constexpr Int swap_bytes(Int value) {
    if constexpr (sizeof(Int) == 8) return static_cast<Int>(__builtin_bswap64(value));
    if constexpr (sizeof(Int) == 4) return static_cast<Int>(__builtin_bswap32(value));
    if constexpr (sizeof(Int) == 2) return static_cast<Int>(__builtin_bswap16(value));
    return value;
}

}  // namespace detail

static_assert(std::endian::native == std::endian::little, "rocem is for x86-64");

template <std::unsigned_integral Int>
Int load_be(const std::byte* at) {
    Int value;
    std::memcpy(&value, at, sizeof value);
    return detail::swap_bytes(value);
}

template <std::unsigned_integral Int>
void store_be(std::byte* at, Int value) {
    value = detail::swap_bytes(value);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace rocem::protocol
