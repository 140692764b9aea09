#include "queue_engine/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace rocem::engine {
namespace {

std::uint64_t tick_at_or_after(Time deadline) {
    const std::int64_t ns = std::max<std::int64_t>(deadline.time_since_epoch().count(), 0);
    const std::int64_t tick = TimerWheel::tick.count();
    return static_cast<std::uint64_t>(ns / tick + (ns % tick != 0 ? 1 : 0));
}

std::uint64_t tick_at_or_before(Time now) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 0) /
                                      TimerWheel::tick.count());
}

}  // namespace

TimerWheel::TimerWheel() {
    heads_.fill(no_timer);
}

void TimerWheel::resize(std::uint32_t count) {
    if (count > entries_.size()) entries_.resize(count);
}

void TimerWheel::schedule(std::uint32_t timer, Time deadline) {
    cancel(timer);
    // Past the wheel's range (76 hours) a timer fires early and its owner schedules it again. The last level
    // wraps: one slot short of a turn, for a timer must never lie a whole turn ahead in the present slot.
    constexpr std::uint64_t range = std::uint64_t{slots - 1} << ((levels - 1) * slot_bits);
    entries_[timer].when = std::clamp(tick_at_or_after(deadline), elapsed_ + 1, elapsed_ + range);
    place(timer);
}

void TimerWheel::cancel(std::uint32_t timer) {
    if (scheduled(timer)) unlink(timer);
}

void TimerWheel::place(std::uint32_t timer) {
    // The level of the highest digit in which the deadline differs from the present.
    const std::uint64_t when = entries_[timer].when;
    const std::uint64_t differing = (when ^ elapsed_) | (slots - 1);
    const unsigned highest = 63u - static_cast<unsigned>(std::countl_zero(differing));
    const unsigned level = std::min(highest / slot_bits, levels - 1);
    const auto slot = static_cast<std::uint32_t>(when >> (level * slot_bits)) & (slots - 1);
    link(timer, static_cast<std::uint16_t>(level * slots + slot));
}

void TimerWheel::link(std::uint32_t timer, std::uint16_t bucket) {
    Entry& entry = entries_[timer];
    entry.bucket = bucket;
    entry.previous = no_timer;
    entry.next = heads_[bucket];
    if (entry.next != no_timer) entries_[entry.next].previous = timer;
    heads_[bucket] = timer;
    if (bucket != expired_bucket) occupied_[bucket / slots] |= std::uint64_t{1} << (bucket % slots);
}

void TimerWheel::unlink(std::uint32_t timer) {
    Entry& entry = entries_[timer];
    const std::uint16_t bucket = entry.bucket;
    if (entry.previous != no_timer) {
        entries_[entry.previous].next = entry.next;
    } else {
        heads_[bucket] = entry.next;
    }
    if (entry.next != no_timer) entries_[entry.next].previous = entry.previous;
    if (heads_[bucket] == no_timer && bucket != expired_bucket) {
        occupied_[bucket / slots] &= ~(std::uint64_t{1} << (bucket % slots));
    }
    entry.bucket = no_bucket;
}

bool TimerWheel::next_expiration(Expiration& expiration) const {
    for (unsigned level = 0; level < levels; ++level) {
        if (occupied_[level] == 0) continue;
        const unsigned shift = level * slot_bits;
        const auto present = static_cast<unsigned>(elapsed_ >> shift) & (slots - 1);
        const auto ahead =
            static_cast<unsigned>(std::countr_zero(std::rotr(occupied_[level], static_cast<int>(present))));
        const std::uint32_t slot = (present + ahead) & (slots - 1);
        const std::uint64_t turn = std::uint64_t{1} << (shift + slot_bits);
        std::uint64_t at = (elapsed_ & ~(turn - 1)) + (std::uint64_t{slot} << shift);
        if (slot < present) at += turn;  // only the last level wraps
        expiration = {level, slot, at};
        return true;
    }
    return false;
}

Time TimerWheel::next_deadline() const {
    if (heads_[expired_bucket] != no_timer) return Time(tick * static_cast<std::int64_t>(elapsed_));
    Expiration expiration;
    if (!next_expiration(expiration)) return never;
    return Time(tick * static_cast<std::int64_t>(expiration.tick));
}

std::uint32_t TimerWheel::pop_expired(Time now) {
    const std::uint64_t present = tick_at_or_before(now);
    while (heads_[expired_bucket] == no_timer) {
        Expiration expiration;
        if (!next_expiration(expiration) || expiration.tick > present) {
            elapsed_ = std::max(elapsed_, present);
            return no_timer;
        }
        elapsed_ = std::max(elapsed_, expiration.tick);
        const auto bucket = static_cast<std::uint16_t>(expiration.level * slots + expiration.slot);
        while (heads_[bucket] != no_timer) {
            const std::uint32_t timer = heads_[bucket];
            unlink(timer);
            if (entries_[timer].when <= elapsed_) {
                link(timer, expired_bucket);
            } else {
                place(timer);
            }
        }
    }
    const std::uint32_t timer = heads_[expired_bucket];
    unlink(timer);
    return timer;
}

}  // namespace rocem::engine
