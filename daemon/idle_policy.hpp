// When a worker without work spins, yields and blocks (decision 13). Pure: the time is an argument.
#pragma once

#include "queue_engine/time.hpp"

namespace rocem::daemon {

struct IdleTimes {
    engine::Duration spin{};       // after the last work
    engine::Duration yield{};      // after spinning
    bool block = true;             // false: yield for ever
    engine::Duration max_sleep{};  // longest sleep while a port has no descriptor to wait on
};

enum class IdleAction { spin, yield, block };

class IdlePolicy {
 public:
    explicit IdlePolicy(const IdleTimes& times) : times_(times) {}

    // A turn that found work starts the count anew.
    void worked(engine::Time now) { last_work_ = now; }

    IdleAction next(engine::Time now) const;

    // How long a block may last: until the next deadline, not beyond max_sleep while something must be
    // polled. Duration::max() if only a descriptor can end it; zero if the deadline has passed.
    engine::Duration sleep_limit(engine::Time now, engine::Time next_deadline, bool must_poll) const;

 private:
    IdleTimes times_;
    engine::Time last_work_{};
};

}  // namespace rocem::daemon
