// Immediate data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocem::protocol {

struct ImmDt {
    static constexpr std::size_t size = 4;

    std::uint32_t value = 0;

    static ImmDt decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const ImmDt&, const ImmDt&) = default;
};

}  // namespace rocem::protocol
