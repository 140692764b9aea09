#include "daemon/waiting_events.hpp"

namespace rocem::daemon {

void WaitingEvents::add(EventObject object, const rocem_abi_async_event& event) {
    const Key key(object, event.slot, event.type);
    const auto [place, added] = by_object_.try_emplace(key, next_);
    if (!added) return;
    in_order_.emplace(next_, Waiting{.key = key, .event = event});
    ++next_;
}

void WaitingEvents::forget(EventObject object, std::uint32_t slot) {
    const auto first = by_object_.lower_bound(Key(object, slot, 0));
    const auto last = by_object_.upper_bound(Key(object, slot, UINT32_MAX));
    for (auto entry = first; entry != last; ++entry)
        in_order_.erase(entry->second);
    by_object_.erase(first, last);
}

void WaitingEvents::pop_front() {
    by_object_.erase(in_order_.begin()->second.key);
    in_order_.erase(in_order_.begin());
}

void WaitingEvents::clear() {
    in_order_.clear();
    by_object_.clear();
}

}  // namespace rocem::daemon
