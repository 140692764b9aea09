// The keystream is RFC 8439's, and a draw below a bound favours nobody.
#include "queue_engine/random.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

namespace rocem::engine {

TEST_CASE("random: the first two blocks for a key of zeros are RFC 8439's (A.1, vectors 1 and 2)") {
    constexpr std::array<std::uint32_t, 32> expected = {
        0xade0b876, 0x903df1a0, 0xe56a5d40, 0x28bd8653, 0xb819d2bd, 0x1aed8da0, 0xccef36a8, 0xc70d778b,
        0x7c5941da, 0x8d485751, 0x3fe02477, 0x374ad8b8, 0xf4b8436a, 0x1ca11815, 0x69b687c3, 0x8665eeb2,
        0xbee7079f, 0x7a385155, 0x7c97ba98, 0x0d082d73, 0xa0290fcb, 0x6965e348, 0x3e53c612, 0xed7aee32,
        0x7621b729, 0x434ee69c, 0xb03371d5, 0xd539d874, 0x281fed31, 0x45fb0a51, 0x1f0ae1ac, 0x6f4d794b,
    };
    Random random(std::array<std::uint8_t, 32>{});
    for (const std::uint32_t word : expected)
        CHECK(random.next() == word);
}

TEST_CASE("random: every byte of the seed counts") {
    std::set<std::uint32_t> first_words;
    for (std::size_t i = 0; i < 32; ++i) {
        std::array<std::uint8_t, 32> seed{};
        seed[i] = 1;
        first_words.insert(Random(seed).next());
    }
    CHECK(first_words.size() == 32);
}

TEST_CASE("random: below stays below, reaches every value, and prefers none") {
    Random random(std::array<std::uint8_t, 32>{7});
    CHECK(random.below(1) == 0);
    std::array<unsigned, 6> seen{};
    for (int i = 0; i < 60'000; ++i)
        ++seen.at(random.below(6));
    for (const unsigned count : seen) {  // 10,000 expected, standard deviation 91
        CHECK(count > 9'500);
        CHECK(count < 10'500);
    }
    // Three quarters of 2^32: plain modulo would give the lower third twice as often as the others.
    constexpr std::uint32_t bound = 0xc0000000;
    unsigned low = 0;
    for (int i = 0; i < 30'000; ++i)
        low += random.below(bound) < bound / 3 ? 1 : 0;
    CHECK(low > 9'500);
    CHECK(low < 10'500);
}

}  // namespace rocem::engine
