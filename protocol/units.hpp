// Sizes that may take few values only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rocem::protocol {

// Path MTU: payload bytes of a full packet. enum ibv_mtu 1..5 = 256, 512, 1024, 2048, 4096.
class PathMtu {
 public:
    constexpr PathMtu() = default;  // 1024

    static constexpr std::optional<PathMtu> from_enum(unsigned value) {
        if (value < 1 || value > 5) return std::nullopt;
        return PathMtu(static_cast<std::uint8_t>(value));
    }
    static constexpr std::optional<PathMtu> from_bytes(std::uint64_t bytes) {
        for (std::uint8_t value = 1; value <= 5; ++value) {
            if (PathMtu(value).bytes() == bytes) return PathMtu(value);
        }
        return std::nullopt;
    }

    constexpr std::uint32_t bytes() const { return 128u << enum_; }
    constexpr std::uint8_t enum_value() const { return enum_; }

    friend constexpr auto operator<=>(PathMtu, PathMtu) = default;

 private:
    explicit constexpr PathMtu(std::uint8_t value) : enum_(value) {}
    std::uint8_t enum_ = 3;
};

inline constexpr std::size_t payload_bytes_max = 4096;

// Zero bytes behind a payload that bring it to a multiple of four (BTH PadCnt).
class PadCount {
 public:
    static constexpr PadCount for_length(std::uint64_t payload_bytes) {
        return PadCount(static_cast<std::uint8_t>((4 - payload_bytes % 4) % 4));
    }
    constexpr std::uint8_t value() const { return value_; }

 private:
    explicit constexpr PadCount(std::uint8_t value) : value_(value) {}
    std::uint8_t value_ = 0;
};

}  // namespace rocem::protocol
