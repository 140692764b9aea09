#include "daemon/clock.hpp"

#include <ctime>

namespace rocem::daemon {
namespace {

std::int64_t read_ns(clockid_t clock) {
    timespec value{};
    ::clock_gettime(clock, &value);
    return std::int64_t{value.tv_sec} * 1'000'000'000 + value.tv_nsec;
}

}  // namespace

Clock::Clock() : wall_clock_offset_ns_(read_ns(CLOCK_REALTIME) - read_ns(CLOCK_MONOTONIC)) {}

engine::Time Clock::now() const {
    return engine::Time(engine::Duration(read_ns(CLOCK_MONOTONIC)));
}

}  // namespace rocem::daemon
