#include "daemon/worker.hpp"

#include <sched.h>

#include <algorithm>

#include "ipc/doorbell.hpp"

namespace rocem::daemon {
namespace {

// How often a worker that never blocks shows its counters, and looks whether clients have read their events.
constexpr std::uint64_t turns_between_rounds = 256;

void relax() {
    __builtin_ia32_pause();
}

}  // namespace

Worker::Worker(WorkerLink& link, ipc::SharedRegion& page, const Clock& clock, const IdleTimes& idle)
    : link_(link),
      page_(*reinterpret_cast<ipc::WorkerPage*>(page.mapping.data())),
      clock_(clock),
      idle_policy_(idle),
      commands_(link, sleeper_) {
    page_.magic = ROCEM_ABI_MAGIC;
}

bool Worker::add_nic(EmulatedNic& nic) {
    nics_.push_back(&nic);
    commands_.add_nic(nic);
    const int descriptor = nic.port().wait_descriptor();
    return descriptor < 0 || sleeper_.add(descriptor);
}

void Worker::run() {
    sleeper_.add(link_.command_waker.descriptor());
    idle_policy_.worked(clock_.now());
    while (!stopping_.load(std::memory_order_relaxed)) {
        const engine::Time now = clock_.now();
        ++turns_;
        if (run_once(now)) {
            ++busy_turns_;
            idle_policy_.worked(now);
        } else {
            idle(now);
        }
        if (turns_ % turns_between_rounds == 0) {
            publish_counters();
            send_waiting_events();
        }
    }
    commands_.close_all();
}

void Worker::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    link_.command_waker.notify();
}

bool Worker::run_once(engine::Time now) {
    bool worked = false;
    for (EmulatedNic* nic : nics_) {
        worked = nic->receive(now) || worked;
        worked = nic->run_dma(now) || worked;
        worked = nic->run_timers(now) || worked;
        worked = nic->drain_posts(now) || worked;
        worked = nic->transmit(now) || worked;
        worked = nic->deliver_completions(now) || worked;
    }
    worked = commands_.run(now) || worked;
    return worked;
}

void Worker::idle(engine::Time now) {
    switch (idle_policy_.next(now)) {
        case IdleAction::spin:
            relax();
            break;
        case IdleAction::yield:
            ::sched_yield();
            break;
        case IdleAction::block:
            block();
            break;
    }
}

void Worker::block() {
    publish_counters();
    // What finds no room now has an edge to come.
    send_waiting_events();
    ipc::announce_sleep(page_);
    std::size_t asleep = 0;
    bool quiet = !something_came();
    while (quiet && asleep < nics_.size()) {
        quiet = nics_[asleep]->port().begin_sleep();
        if (quiet) ++asleep;
    }
    const engine::Duration limit = quiet ? sleep_limit() : engine::Duration::zero();
    if (limit > engine::Duration::zero()) {
        ++sleeps_;
        link_.load.sleeps.store(sleeps_, std::memory_order_relaxed);
        sleeper_.wait(limit);
    }
    for (std::size_t i = 0; i < asleep; ++i)
        nics_[i]->port().end_sleep();
    ipc::announce_awake(page_);
}

engine::Duration Worker::sleep_limit() const {
    engine::Time deadline = engine::never;
    bool must_poll = commands_.must_poll();
    for (const EmulatedNic* nic : nics_) {
        deadline = std::min(deadline, nic->next_deadline());
        must_poll = must_poll || nic->must_poll();
    }
    return idle_policy_.sleep_limit(clock_.now(), deadline, must_poll);
}

// The last look after need_wakeup was raised: a client that read the flag before marked its queue before
// (decision 13).
bool Worker::something_came() const {
    return !link_.commands.empty() ||
           std::any_of(nics_.begin(), nics_.end(), [](const EmulatedNic* nic) { return nic->has_posts(); });
}

void Worker::send_waiting_events() {
    for (EmulatedNic* nic : nics_) {
        for (const auto& session : nic->sessions())
            session->send_waiting_events();
    }
}

void Worker::publish_counters() {
    for (EmulatedNic* nic : nics_)
        nic->publish_counters();
    link_.load.turns.store(turns_, std::memory_order_relaxed);
    link_.load.busy_turns.store(busy_turns_, std::memory_order_relaxed);
}

}  // namespace rocem::daemon
