// A bounded queue between one producing and one consuming thread (which may be the same).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <vector>

namespace rocem::daemon {

template <class T>
class SpscRing {
 public:
    explicit SpscRing(std::size_t capacity) : items_(std::bit_ceil(capacity)) {}

    std::size_t capacity() const { return items_.size(); }
    // Exact for the producer's room and the consumer's fill; a moment old for the other side.
    std::size_t size() const {
        return produced_.load(std::memory_order_acquire) - consumed_.load(std::memory_order_acquire);
    }
    std::size_t room() const { return items_.size() - size(); }
    // For the consumer. seq_cst: before a sleep this is read after the sleep flag is set (see VirtualWire).
    bool empty() const {
        return produced_.load(std::memory_order_seq_cst) == consumed_.load(std::memory_order_relaxed);
    }

    bool push(const T& item) {
        const std::size_t at = produced_.load(std::memory_order_relaxed);
        if (at - consumed_.load(std::memory_order_acquire) == items_.size()) return false;
        items_[at & (items_.size() - 1)] = item;
        // seq_cst: the other side's sleep flag is read after this (see VirtualWire).
        produced_.store(at + 1, std::memory_order_seq_cst);
        return true;
    }

    bool pop(T& item) {
        const std::size_t at = consumed_.load(std::memory_order_relaxed);
        if (at == produced_.load(std::memory_order_seq_cst)) return false;
        item = items_[at & (items_.size() - 1)];
        consumed_.store(at + 1, std::memory_order_release);
        return true;
    }

 private:
    std::vector<T> items_;
    alignas(64) std::atomic<std::size_t> produced_{0};
    alignas(64) std::atomic<std::size_t> consumed_{0};
};

}  // namespace rocem::daemon
