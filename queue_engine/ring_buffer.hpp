// A queue in one block of memory. Grows by doubling when the load reaches a new peak.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace rocem::engine {

template <class T>
class RingBuffer {
 public:
    explicit RingBuffer(std::size_t capacity = 64) : items_(std::bit_ceil(capacity)) {}

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

    void push(const T& item) {
        if (size_ == items_.size()) grow();
        items_[(first_ + size_) & (items_.size() - 1)] = item;
        ++size_;
    }

    const T& front() const { return items_[first_]; }

    void pop() {
        first_ = (first_ + 1) & (items_.size() - 1);
        --size_;
    }

 private:
    void grow() {
        std::vector<T> larger(items_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i)
            larger[i] = items_[(first_ + i) & (items_.size() - 1)];
        items_.swap(larger);
        first_ = 0;
    }

    std::vector<T> items_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace rocem::engine
