#include "protocol/units.hpp"

#include <catch2/catch.hpp>

using namespace rocem::protocol;

TEST_CASE("path MTUs are 256 to 4096", "[units]") {
    const auto [value, bytes] =
        GENERATE(table<unsigned, unsigned>({{1, 256}, {2, 512}, {3, 1024}, {4, 2048}, {5, 4096}}));
    REQUIRE(PathMtu::from_enum(value));
    CHECK(PathMtu::from_enum(value)->bytes() == bytes);
    CHECK(PathMtu::from_bytes(bytes)->enum_value() == value);
}

TEST_CASE("no other path MTU exists", "[units]") {
    CHECK_FALSE(PathMtu::from_enum(0));
    CHECK_FALSE(PathMtu::from_enum(6));
    const auto bytes = GENERATE(0u, 1u, 128u, 255u, 1000u, 1500u, 8192u);
    CHECK_FALSE(PathMtu::from_bytes(bytes));
    CHECK_FALSE(PathMtu::from_bytes((1ull << 32) + 1024));
}

TEST_CASE("the pad brings a payload to a multiple of four", "[units]") {
    const auto [length, pad] = GENERATE(table<std::uint64_t, unsigned>(
        {{0, 0}, {1, 3}, {2, 2}, {3, 1}, {4, 0}, {5, 3}, {1021, 3}, {4096, 0}, {(1ull << 31) + 1, 3}}));
    CHECK(PadCount::for_length(length).value() == pad);
}
