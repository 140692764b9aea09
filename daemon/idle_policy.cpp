#include "daemon/idle_policy.hpp"

#include <algorithm>

namespace rocem::daemon {

IdleAction IdlePolicy::next(engine::Time now) const {
    const engine::Duration idle = now - last_work_;
    if (idle < times_.spin) return IdleAction::spin;
    if (!times_.block || idle - times_.spin < times_.yield) return IdleAction::yield;
    return IdleAction::block;
}

engine::Duration IdlePolicy::sleep_limit(engine::Time now, engine::Time next_deadline, bool must_poll) const {
    engine::Duration limit = engine::Duration::max();
    if (next_deadline != engine::never) limit = std::max(next_deadline - now, engine::Duration::zero());
    return must_poll ? std::min(limit, times_.max_sleep) : limit;
}

}  // namespace rocem::daemon
