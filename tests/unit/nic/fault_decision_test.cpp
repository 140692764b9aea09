// decide_fault: a function of the seed, the direction and the frame's place, and of nothing else.
#include <catch2/catch.hpp>
#include <string>

#include "daemon/nic/fault_port.hpp"

namespace rocem::test {
namespace {

using config::DirectionFaults;
using daemon::decide_fault;
using daemon::FaultDecision;

constexpr std::uint64_t frames = 100'000;

DirectionFaults some_of_each() {
    DirectionFaults faults;
    faults.loss = 0.1;
    faults.duplicate = 0.1;
    faults.reorder = 0.1;
    faults.corrupt = 0.1;
    faults.delay_us = 5;
    faults.jitter_us = 10;
    return faults;
}

std::string text(const FaultDecision& decision) {
    return std::string(decision.lost ? "L" : "-") + (decision.duplicated ? "D" : "-") +
           (decision.corrupted ? "C" : "-") + std::to_string(decision.overtaken_by) + " " +
           std::to_string(decision.corrupt_bit) + " " + std::to_string(decision.delay.count());
}

TEST_CASE("decide_fault: the same frame meets the same fault", "[nic][faults]") {
    const DirectionFaults faults = some_of_each();
    // Asked in another order, and again.
    std::vector<std::string> forwards;
    for (std::uint64_t n = 0; n < 1000; ++n)
        forwards.push_back(text(decide_fault(7, 0, n, faults)));
    for (std::uint64_t n = 1000; n-- > 0;)
        REQUIRE(text(decide_fault(7, 0, n, faults)) == forwards[n]);
}

TEST_CASE("decide_fault: seed and direction make a difference", "[nic][faults]") {
    const DirectionFaults faults = some_of_each();
    int same_seed = 0;
    int same_direction = 0;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        const std::string decision = text(decide_fault(7, 0, n, faults));
        same_seed += decision == text(decide_fault(8, 0, n, faults)) ? 1 : 0;
        same_direction += decision == text(decide_fault(7, 1, n, faults)) ? 1 : 0;
    }
    CHECK(same_seed == 0);  // the bit to corrupt alone has 64 random bits
    CHECK(same_direction == 0);
}

TEST_CASE("decide_fault: one setting leaves the other decisions alone", "[nic][faults]") {
    const DirectionFaults before = some_of_each();
    DirectionFaults after = before;
    const auto changed = GENERATE(0, 1, 2, 3, 4);
    if (changed == 0) after.loss = 0.9;
    if (changed == 1) after.duplicate = 0.9;
    if (changed == 2) after.reorder = 0.9;
    if (changed == 3) after.corrupt = 0.9;
    if (changed == 4) after.jitter_us = 1000;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        const FaultDecision a = decide_fault(7, 1, n, before);
        const FaultDecision b = decide_fault(7, 1, n, after);
        // What is not changed is the same; what became likelier happens wherever it did.
        REQUIRE((changed == 0 ? a.lost <= b.lost : a.lost == b.lost));
        REQUIRE((changed == 1 ? a.duplicated <= b.duplicated : a.duplicated == b.duplicated));
        REQUIRE((changed == 2 ? a.overtaken_by <= b.overtaken_by : a.overtaken_by == b.overtaken_by));
        REQUIRE((changed == 3 ? a.corrupted <= b.corrupted : a.corrupted == b.corrupted));
        REQUIRE((changed == 4 ? a.delay <= b.delay : a.delay == b.delay));
        REQUIRE(a.corrupt_bit == b.corrupt_bit);
    }
}

// Not a matter of luck: the seed is fixed.
TEST_CASE("decide_fault: in the long run the rates are those of the settings", "[nic][faults]") {
    DirectionFaults faults;
    faults.loss = 0.01;
    faults.duplicate = 0.02;
    faults.reorder = 0.05;
    faults.corrupt = 0.1;
    faults.delay_us = 100;
    faults.jitter_us = 50;
    const unsigned direction = GENERATE(0u, 1u);
    double lost = 0, duplicated = 0, reordered = 0, corrupted = 0, delay_us = 0, lost_and_corrupted = 0;
    for (std::uint64_t n = 0; n < frames; ++n) {
        const FaultDecision decision = decide_fault(2024, direction, n, faults);
        lost += decision.lost;
        duplicated += decision.duplicated;
        reordered += decision.overtaken_by == 3;
        corrupted += decision.corrupted;
        lost_and_corrupted += decision.lost && decision.corrupted;
        delay_us += static_cast<double>(decision.delay.count()) / 1000;
        REQUIRE(decision.delay >= std::chrono::microseconds(100));
        REQUIRE(decision.delay <= std::chrono::microseconds(150));
    }
    CHECK(lost == Approx(1000).epsilon(0.1));
    CHECK(duplicated == Approx(2000).epsilon(0.1));
    CHECK(reordered == Approx(5000).epsilon(0.1));
    CHECK(corrupted == Approx(10'000).epsilon(0.1));
    CHECK(lost_and_corrupted == Approx(100).epsilon(0.3));  // independent
    CHECK(delay_us / frames == Approx(125).epsilon(0.01));  // jitter is uniform
}

TEST_CASE("decide_fault: 0 is never and 1 is always", "[nic][faults]") {
    DirectionFaults always;
    always.loss = always.duplicate = always.reorder = always.corrupt = 1;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        const FaultDecision none = decide_fault(3, 0, n, {});
        REQUIRE_FALSE((none.lost || none.duplicated || none.corrupted));
        REQUIRE(none.overtaken_by == 0);
        REQUIRE(none.delay == engine::Duration{0});
        const FaultDecision all = decide_fault(3, 0, n, always);
        REQUIRE((all.lost && all.duplicated && all.corrupted));
        REQUIRE(all.overtaken_by == 3);
    }
}

}  // namespace
}  // namespace rocem::test
