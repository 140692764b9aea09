// How threads talk: a bounded queue with one producer and one consumer, and a waker for a consumer that
// sleeps.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ipc/unique_fd.hpp"

namespace rocem::daemon {

// An eventfd between two threads of the daemon (no client holds it). Every notify is a write: a flag that
// saves some would have to be cleared on every path that can see a message before its notify.
class Waker {
 public:
    Waker() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

    // False if the process had no descriptor left when the waker was made.
    bool valid() const { return static_cast<bool>(event_); }
    int descriptor() const { return event_.get(); }

    // Producer, after its push.
    void notify() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof(one));
    }

    // Consumer, before it looks at its queues: what is pushed later notifies again.
    void clear() {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof(count));
    }

 private:
    ipc::UniqueFd event_;
};

template <class T>
class CommandQueue {
 public:
    explicit CommandQueue(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

    std::size_t capacity() const { return slots_.size(); }

    // Producer. False, and the value untouched, when the queue is full.
    bool try_push(T&& value) {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) == slots_.size()) return false;
        slots_[tail & mask_].emplace(std::move(value));
        tail_.store(tail + 1, std::memory_order_seq_cst);
        return true;
    }

    // Producer: slots free right now (more may become free).
    std::size_t room() const {
        return slots_.size() -
               (tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_acquire));
    }

    // Consumer.
    std::optional<T> try_pop() {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire)) return std::nullopt;
        std::optional<T>& slot = slots_[head & mask_];
        std::optional<T> value(std::move(slot));
        slot.reset();
        head_.store(head + 1, std::memory_order_release);
        return value;
    }

    // Consumer.
    bool empty() const {
        return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_seq_cst);
    }

 private:
    std::vector<std::optional<T>> slots_;
    std::size_t mask_;
    alignas(64) std::atomic<std::size_t> head_{0};  // next to pop; free-running
    alignas(64) std::atomic<std::size_t> tail_{0};  // next to fill; tail - head <= capacity
};

}  // namespace rocem::daemon
