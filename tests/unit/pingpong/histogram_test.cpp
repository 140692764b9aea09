#include "histogram.hpp"

#include <catch2/catch.hpp>
#include <memory>

namespace rocem::tools {
namespace {

TEST_CASE("histogram__nothing_has_no_percentiles") {
    const auto histogram = std::make_unique<Histogram>();
    CHECK(histogram->percentile_ns(0.5) == 0);
    CHECK(histogram->max_ns() == 0);
}

TEST_CASE("histogram__small_values_are_exact") {
    const auto histogram = std::make_unique<Histogram>();
    for (std::uint64_t ns = 1; ns <= 10; ++ns)
        histogram->add(ns);
    CHECK(histogram->percentile_ns(0.5) == 5);
    CHECK(histogram->percentile_ns(0.9) == 9);
    CHECK(histogram->percentile_ns(1.0) == 10);
    CHECK(histogram->count() == 10);
}

TEST_CASE("histogram__a_percentile_is_at_most_a_32nd_too_high") {
    const auto histogram = std::make_unique<Histogram>();
    for (std::uint64_t ns = 1; ns <= 100'000; ++ns)
        histogram->add(ns);
    for (const double fraction : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
        const double exact = fraction * 100'000;
        const auto got = static_cast<double>(histogram->percentile_ns(fraction));
        CAPTURE(fraction);
        CHECK(got >= exact - 1);
        CHECK(got <= exact * (1 + 1.0 / 32) + 1);
    }
    CHECK(histogram->percentile_ns(1.0) == 100'000);
}

TEST_CASE("histogram__takes_every_value") {
    const auto histogram = std::make_unique<Histogram>();
    histogram->add(0);
    for (unsigned bit = 0; bit < 64; ++bit)
        histogram->add(std::uint64_t{1} << bit);
    histogram->add(~std::uint64_t{0});
    CHECK(histogram->count() == 66);
    CHECK(histogram->percentile_ns(1.0) == ~std::uint64_t{0});
}

}  // namespace
}  // namespace rocem::tools
