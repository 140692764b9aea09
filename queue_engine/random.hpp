// The one source of random choices: a ChaCha20 keystream (RFC 8439), so that a peer that has seen keys cannot
// guess the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rocem::engine {

class Random {
 public:
    explicit Random(const std::array<std::uint8_t, 32>& seed);

    std::uint32_t next();
    // Uniform in [0, bound), bound > 0.
    std::uint32_t below(std::uint32_t bound);

 private:
    void refill();

    std::array<std::uint32_t, 16> state_{};
    std::array<std::uint32_t, 16> block_{};
    std::size_t used_ = 16;
};

}  // namespace rocem::engine
