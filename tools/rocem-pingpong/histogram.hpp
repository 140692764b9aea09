// Latencies without a list of them: 32 steps for each power of two, so a percentile is exact to 1/32.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rocem::tools {

class Histogram {
 public:
    void add(std::uint64_t ns) {
        ++counts_[index_of(ns)];
        ++count_;
        max_ = std::max(max_, ns);
    }

    std::uint64_t count() const { return count_; }
    std::uint64_t max_ns() const { return max_; }

    // The smallest value that `fraction` (0..1] of all values do not exceed, rounded up to its step; 0 if
    // there are none.
    std::uint64_t percentile_ns(double fraction) const {
        const auto wanted = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= wanted && seen > 0) return std::min(upper_end_of(i), max_);
        }
        return max_;
    }

 private:
    static constexpr unsigned step_bits = 5;
    static constexpr std::uint64_t steps = std::uint64_t{1} << step_bits;

    // Values below 32 have a place each; then 32 places for each power of two.
    static std::size_t index_of(std::uint64_t value) {
        if (value < steps) return value;
        const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - step_bits - 1;
        return (shift + 1) * steps + ((value >> shift) - steps);
    }
    static std::uint64_t upper_end_of(std::size_t index) {
        if (index < steps) return index;
        const std::uint64_t shift = index / steps - 1;
        return ((index % steps + steps + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (64 - step_bits + 1) * steps> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace rocem::tools
