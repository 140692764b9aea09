// Packet sequence numbers: 24 bits, circular. There is no operator<: say precedes or distance.
#pragma once

#include <cstdint>

namespace rocem::protocol {

class Psn {
 public:
    static constexpr std::uint32_t mask = 0xffffff;

    constexpr Psn() = default;
    explicit constexpr Psn(std::uint32_t value) : value_(value & mask) {}

    constexpr std::uint32_t value() const { return value_; }
    constexpr Psn plus(std::uint32_t n) const { return Psn(value_ + n); }
    constexpr Psn minus(std::uint32_t n) const { return Psn(value_ - n); }
    constexpr Psn next() const { return plus(1); }

    // Steps from one number to another, the short way round: -2^23 .. 2^23 - 1.
    static constexpr std::int32_t distance(Psn from, Psn to) {
        return static_cast<std::int32_t>((to.value_ - from.value_) << 8) >> 8;
    }
    constexpr bool precedes(Psn other) const { return distance(*this, other) > 0; }
    constexpr bool precedes_or_equals(Psn other) const { return distance(*this, other) >= 0; }

    friend constexpr bool operator==(Psn, Psn) = default;

 private:
    std::uint32_t value_ = 0;
};

}  // namespace rocem::protocol
