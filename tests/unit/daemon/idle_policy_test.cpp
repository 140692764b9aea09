#include "daemon/idle_policy.hpp"

#include <catch2/catch.hpp>

using namespace rocem::daemon;
using rocem::engine::Duration;
using rocem::engine::never;
using rocem::engine::Time;
using namespace std::chrono_literals;

namespace {

constexpr IdleTimes times{.spin = 20us, .yield = 200us, .block = true, .max_sleep = 1ms};

Time at(Duration since_start) {
    return Time(1s + since_start);
}

}  // namespace

TEST_CASE("a worker spins, yields, then blocks") {
    IdlePolicy policy(times);
    policy.worked(at(0us));
    CHECK(policy.next(at(0us)) == IdleAction::spin);
    CHECK(policy.next(at(19us)) == IdleAction::spin);
    CHECK(policy.next(at(20us)) == IdleAction::yield);
    CHECK(policy.next(at(219us)) == IdleAction::yield);
    CHECK(policy.next(at(220us)) == IdleAction::block);
    CHECK(policy.next(at(1h)) == IdleAction::block);
    policy.worked(at(1h));
    CHECK(policy.next(at(1h + 19us)) == IdleAction::spin);
}

TEST_CASE("a worker that may not block yields for ever") {
    IdlePolicy policy({.spin = 0us, .yield = 10us, .block = false, .max_sleep = 1ms});
    policy.worked(at(0us));
    CHECK(policy.next(at(0us)) == IdleAction::yield);
    CHECK(policy.next(at(1h)) == IdleAction::yield);
}

TEST_CASE("a sleep ends with the next deadline, and with max_sleep only while something must be polled") {
    IdlePolicy policy(times);
    CHECK(policy.sleep_limit(at(0us), never, false) == Duration::max());
    CHECK(policy.sleep_limit(at(0us), never, true) == 1ms);
    CHECK(policy.sleep_limit(at(0us), at(500us), true) == 500us);
    CHECK(policy.sleep_limit(at(0us), at(5ms), true) == 1ms);
    CHECK(policy.sleep_limit(at(0us), at(5ms), false) == 5ms);
    CHECK(policy.sleep_limit(at(7ms), at(5ms), false) == 0us);
}
