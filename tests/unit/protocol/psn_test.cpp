#include "protocol/psn.hpp"

#include <catch2/catch.hpp>

using rocem::protocol::Psn;

namespace {

constexpr std::int32_t half = 1 << 23;

}  // namespace

TEST_CASE("a PSN has 24 bits", "[psn]") {
    CHECK(Psn(0x1234567).value() == 0x234567);
    CHECK(Psn(0xffffff).next() == Psn(0));
    CHECK(Psn(0).minus(1) == Psn(0xffffff));
    CHECK(Psn(0xfffffe).plus(4) == Psn(2));
    CHECK(Psn(2).minus(4) == Psn(0xfffffe));
    CHECK(Psn(5).plus(1u << 24) == Psn(5));
    STATIC_REQUIRE(Psn(0xfffffe).next().next() == Psn(0));
}

TEST_CASE("distance goes the short way round", "[psn]") {
    CHECK(Psn::distance(Psn(0xfffffe), Psn(2)) == 4);
    CHECK(Psn::distance(Psn(2), Psn(0xfffffe)) == -4);
    CHECK(Psn::distance(Psn(0x7fffff), Psn(0x800000)) == 1);
    CHECK(Psn::distance(Psn(0x7fffff), Psn(0x7fffff)) == 0);
    CHECK(Psn::distance(Psn(0), Psn(0x7fffff)) == half - 1);
    CHECK(Psn::distance(Psn(0), Psn(0x800000)) == -half);
    CHECK(Psn::distance(Psn(0xfffffe), Psn(0x7ffffd)) == half - 1);
    CHECK(Psn::distance(Psn(0xfffffe), Psn(0x7ffffe)) == -half);
}

TEST_CASE("precedes at the wrap and in the middle", "[psn]") {
    const auto start = GENERATE(0u, 1u, 0x7ffffeu, 0x7fffffu, 0x800000u, 0xfffffeu, 0xffffffu);
    const auto step = GENERATE(1u, 2u, 128u, 0x7fffffu);
    const Psn from(start);
    const Psn to = from.plus(step);
    CHECK(from.precedes(to));
    CHECK(from.precedes_or_equals(to));
    CHECK_FALSE(to.precedes(from));
    CHECK_FALSE(to.precedes_or_equals(from));
    CHECK_FALSE(from.precedes(from));
    CHECK(from.precedes_or_equals(from));
    CHECK(Psn::distance(from, to) == static_cast<std::int32_t>(step));
    CHECK(to.minus(step) == from);
}
