#include "queue_engine/random.hpp"

#include <bit>

namespace rocem::engine {
namespace {

void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
    a += b;
    d = std::rotl(d ^ a, 16);
    c += d;
    b = std::rotl(b ^ c, 12);
    a += b;
    d = std::rotl(d ^ a, 8);
    c += d;
    b = std::rotl(b ^ c, 7);
}

}  // namespace

Random::Random(const std::array<std::uint8_t, 32>& seed) {
    // RFC 8439 2.3: "expand 32-byte k", the key, a block counter and a nonce of zero.
    state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (std::size_t i = 0; i < 8; ++i) {
        const std::uint8_t* at = &seed[4 * i];
        state_[4 + i] = std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
                        std::uint32_t{at[3]} << 24;
    }
}

std::uint32_t Random::next() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
}

std::uint32_t Random::below(std::uint32_t bound) {
    // Numbers past the last whole multiple of bound would favour small results.
    const std::uint32_t excess = static_cast<std::uint32_t>((std::uint64_t{1} << 32) % bound);
    std::uint32_t value = next();
    while (value > UINT32_MAX - excess)
        value = next();
    return value % bound;
}

void Random::refill() {
    block_ = state_;
    auto& x = block_;
    for (int i = 0; i < 10; ++i) {
        quarter_round(x[0], x[4], x[8], x[12]);
        quarter_round(x[1], x[5], x[9], x[13]);
        quarter_round(x[2], x[6], x[10], x[14]);
        quarter_round(x[3], x[7], x[11], x[15]);
        quarter_round(x[0], x[5], x[10], x[15]);
        quarter_round(x[1], x[6], x[11], x[12]);
        quarter_round(x[2], x[7], x[8], x[13]);
        quarter_round(x[3], x[4], x[9], x[14]);
    }
    for (std::size_t i = 0; i < block_.size(); ++i)
        block_[i] += state_[i];
    ++state_[12];
    if (state_[12] == 0) ++state_[13];
    used_ = 0;
}

}  // namespace rocem::engine
