// Congestion notification packet: behind the BTH (opcode 0x81, BECN set) 16 reserved bytes (annex A17.9.3).
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace rocem::protocol {

struct Cnp {
    static constexpr std::size_t size = 16;

    std::array<std::byte, size> reserved{};

    static Cnp decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Cnp&, const Cnp&) = default;
};

}  // namespace rocem::protocol
