// FLUSH extended transport header (IBTA annex A19): bits 3:0 placement type, bits 5:4 selectivity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocem::protocol {

struct Feth {
    static constexpr std::size_t size = 4;

    std::uint32_t resv = 0;           // bits 31:6, kept in place
    std::uint8_t placement_type = 0;  // 1 global visibility, 2 persistence
    std::uint8_t selectivity = 0;     // 0 the range, 1 the whole memory region

    static Feth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Feth&, const Feth&) = default;
};

}  // namespace rocem::protocol
