#include "pattern.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace rocem::tools {
namespace {

std::vector<std::byte> message(std::size_t size, std::uint64_t seed, std::uint64_t number) {
    std::vector<std::byte> bytes(size);
    fill(bytes, seed, number);
    return bytes;
}

TEST_CASE("fill__same_seed_and_number_same_bytes") {
    CHECK(message(1001, 7, 3) == message(1001, 7, 3));
    CHECK(message(1001, 7, 3) != message(1001, 7, 4));
    CHECK(message(1001, 7, 3) != message(1001, 8, 3));
    // A short message is the beginning of a long one.
    std::vector<std::byte> longer = message(1001, 7, 3);
    longer.resize(13);
    CHECK(longer == message(13, 7, 3));
}

TEST_CASE("first_difference__finds_each_single_wrong_byte") {
    for (std::size_t size : {1u, 7u, 8u, 9u, 100u}) {
        std::vector<std::byte> bytes = message(size, 1, 2);
        CHECK_FALSE(first_difference(bytes, 1, 2));
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] ^= std::byte{1};
            CHECK(first_difference(bytes, 1, 2) == i);
            bytes[i] ^= std::byte{1};
        }
    }
    CHECK_FALSE(first_difference({}, 1, 2));
}

TEST_CASE("digest__sees_order_lengths_and_bits") {
    const auto of = [](std::initializer_list<std::vector<std::byte>> pieces) {
        Digest digest;
        for (const auto& piece : pieces)
            digest.add(piece);
        return digest.value();
    };
    const auto a = message(100, 1, 1);
    const auto b = message(100, 1, 2);
    auto flipped = b;
    flipped[99] ^= std::byte{0x80};
    const std::vector<std::byte> zero(1);
    const std::vector<std::byte> two_zeros(2);
    CHECK(of({a, b}) == of({a, b}));
    CHECK(of({a, b}) != of({b, a}));
    CHECK(of({a, b}) != of({a, flipped}));
    CHECK(of({zero}) != of({two_zeros}));
    CHECK(of({}) != of({{}}));
}

}  // namespace
}  // namespace rocem::tools
