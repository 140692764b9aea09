// Deadlines by small number, in a hierarchical wheel: six levels of 64 slots over ticks of 4.096 us.
// Scheduling and cancelling cost the same for one timer and for thousands. A timer never fires early; it may
// fire a tick late.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "queue_engine/time.hpp"

namespace rocem::engine {

class TimerWheel {
 public:
    static constexpr Duration tick{4096};

    TimerWheel();

    // Timers 0 .. count-1 may be scheduled from now on.
    void resize(std::uint32_t count);

    // Replaces an earlier deadline of this timer.
    void schedule(std::uint32_t timer, Time deadline);
    void cancel(std::uint32_t timer);
    bool scheduled(std::uint32_t timer) const { return entries_[timer].bucket != no_bucket; }

    // No timer fires before; never if none is scheduled. May be earlier than the first deadline, by a level's
    // resolution.
    Time next_deadline() const;

    // A timer whose deadline is at or before now, taken out of the wheel; no_timer when there is none.
    static constexpr std::uint32_t no_timer = UINT32_MAX;
    std::uint32_t pop_expired(Time now);

 private:
    static constexpr unsigned levels = 6;
    static constexpr unsigned slot_bits = 6;
    static constexpr std::uint32_t slots = 1u << slot_bits;
    static constexpr std::uint16_t no_bucket = UINT16_MAX;
    static constexpr std::uint16_t expired_bucket = levels * slots;

    struct Entry {
        std::uint64_t when = 0;  // ticks
        std::uint32_t next = no_timer;
        std::uint32_t previous = no_timer;
        std::uint16_t bucket = no_bucket;
    };
    struct Expiration {
        unsigned level;
        std::uint32_t slot;
        std::uint64_t tick;
    };

    void place(std::uint32_t timer);
    void link(std::uint32_t timer, std::uint16_t bucket);
    void unlink(std::uint32_t timer);
    bool next_expiration(Expiration& expiration) const;

    std::uint64_t elapsed_ = 0;  // ticks; everything scheduled in the wheel lies behind it
    std::vector<Entry> entries_;
    std::array<std::uint32_t, levels * slots + 1> heads_;
    std::array<std::uint64_t, levels> occupied_{};
};

}  // namespace rocem::engine
