// The wheel against a sorted map: nothing early, nothing forgotten, at most a tick late.
#include "queue_engine/timer_wheel.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <random>
#include <vector>

namespace rocem::engine {
namespace {

using namespace std::chrono_literals;

Time at(std::int64_t ticks) {
    return Time(TimerWheel::tick * ticks);
}

std::vector<std::uint32_t> expired(TimerWheel& wheel, Time now) {
    std::vector<std::uint32_t> timers;
    for (auto timer = wheel.pop_expired(now); timer != TimerWheel::no_timer; timer = wheel.pop_expired(now))
        timers.push_back(timer);
    return timers;
}

}  // namespace

TEST_CASE("timer wheel: empty, it has no deadline and nothing expires") {
    TimerWheel wheel;
    CHECK(wheel.next_deadline() == never);
    CHECK(expired(wheel, at(1'000'000)).empty());
    CHECK(wheel.next_deadline() == never);
}

TEST_CASE("timer wheel: a deadline is met to the tick, on every level") {
    // One tick before, at, and after the places where a level's slot begins.
    const std::int64_t when =
        GENERATE(as<std::int64_t>{}, 1, 2, 63, 64, 65, 4095, 4096, 4097, 262'143, 262'144, 16'777'216,
                 std::int64_t{1} << 31, (std::int64_t{1} << 31) + 1);
    const std::int64_t start = GENERATE(as<std::int64_t>{}, 0, 1, 63, 64, 4095, 1'000'003);
    TimerWheel wheel;
    wheel.resize(1);
    CHECK(expired(wheel, at(start)).empty());
    wheel.schedule(0, at(start + when));
    CHECK(wheel.next_deadline() <= at(start + when));
    CHECK(expired(wheel, at(start + when) - 1ns).empty());
    CHECK(wheel.scheduled(0));
    CHECK(expired(wheel, at(start + when)) == std::vector<std::uint32_t>{0});
    CHECK_FALSE(wheel.scheduled(0));
}

TEST_CASE("timer wheel: between two ticks it rounds up") {
    TimerWheel wheel;
    wheel.resize(1);
    wheel.schedule(0, at(10) + 1ns);
    CHECK(expired(wheel, at(11) - 1ns).empty());
    CHECK(expired(wheel, at(11)).size() == 1);
}

TEST_CASE("timer wheel: a new deadline replaces the old one, a cancelled one never comes") {
    TimerWheel wheel;
    wheel.resize(2);
    wheel.schedule(0, at(10));
    wheel.schedule(0, at(500));
    wheel.schedule(1, at(20));
    wheel.cancel(1);
    wheel.cancel(1);
    CHECK(expired(wheel, at(499)).empty());
    CHECK(expired(wheel, at(500)) == std::vector<std::uint32_t>{0});
    CHECK(wheel.next_deadline() == never);
}

TEST_CASE("timer wheel: a deadline that has passed comes at the next tick") {
    TimerWheel wheel;
    wheel.resize(1);
    CHECK(expired(wheel, at(100)).empty());
    wheel.schedule(0, at(3));
    CHECK(expired(wheel, at(101)).size() == 1);
}

TEST_CASE("timer wheel: what was popped may be scheduled again while others still expire") {
    TimerWheel wheel;
    wheel.resize(3);
    for (std::uint32_t i = 0; i < 3; ++i)
        wheel.schedule(i, at(5));
    unsigned popped = 0;
    for (auto timer = wheel.pop_expired(at(5)); timer != TimerWheel::no_timer;
         timer = wheel.pop_expired(at(5))) {
        ++popped;
        wheel.schedule(timer, at(6));
    }
    CHECK(popped == 3);
    CHECK(expired(wheel, at(6)).size() == 3);
}

TEST_CASE("timer wheel: past its range it fires early, and never spins") {
    TimerWheel wheel;
    wheel.resize(1);
    CHECK(expired(wheel, at(5)).empty());
    wheel.schedule(0, Time::max() - 1s);
    CHECK(expired(wheel, at(std::int64_t{60} << 30)).empty());
    CHECK(expired(wheel, at(std::int64_t{64} << 30)).size() == 1);
}

TEST_CASE("timer wheel: thousands of timers against a sorted map") {
    const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    constexpr std::uint32_t timers = 2'000;
    TimerWheel wheel;
    wheel.resize(timers);
    std::map<std::uint32_t, Time> model;
    Time now = at(static_cast<std::int64_t>(random() % 1'000'000));
    for (int step = 0; step < 30'000; ++step) {
        const auto timer = static_cast<std::uint32_t>(random() % timers);
        const auto choice = random() % 10;
        if (choice < 6) {
            const auto bits = random() % 42;  // 1 ns to 73 minutes
            const Time deadline = now + Duration(random() % (std::uint64_t{1} << bits) + 1);
            wheel.schedule(timer, deadline);
            model[timer] = deadline;
        } else if (choice < 7) {
            wheel.cancel(timer);
            model.erase(timer);
        } else {
            now += Duration(random() % (std::uint64_t{1} << (random() % 36)));
            if (choice == 9 && wheel.next_deadline() != never) now = std::max(now, wheel.next_deadline());
            for (const std::uint32_t due : expired(wheel, now)) {
                REQUIRE(model.count(due) == 1);
                REQUIRE(model[due] <= now);
                model.erase(due);
            }
            for (const auto& [late, deadline] : model)
                REQUIRE(deadline > now - TimerWheel::tick);
        }
    }
    const auto first =
        std::min_element(model.begin(), model.end(), [](auto& a, auto& b) { return a.second < b.second; });
    REQUIRE(first != model.end());
    CHECK(wheel.next_deadline() <= first->second + TimerWheel::tick);
}

}  // namespace rocem::engine
