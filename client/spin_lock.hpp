// The lock of one queue: held for the few stores of a post or a poll.
#pragma once

#include <sched.h>

#include <atomic>

namespace rocem::client {

class SpinLock {
 public:
    void lock() {
        while (taken_.exchange(true, std::memory_order_acquire))
            wait();
    }
    bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
    void unlock() { taken_.store(false, std::memory_order_release); }

 private:
    void wait() const {
        for (int spins = 0; taken_.load(std::memory_order_relaxed);) {
            // The holder may need this CPU.
            if (++spins % 64 == 0) ::sched_yield();
            __builtin_ia32_pause();
        }
    }

    std::atomic<bool> taken_{false};
};

}  // namespace rocem::client
