// The two ends of a ring in shared memory (decision 1).
//
// Each end keeps its own index, the capacity and the slots' place in private memory, and takes the other's
// index for hearsay: one that lies outside the window is a violation, never an access. An end is used by one
// thread at a time.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ipc/abi.h"
#include "ipc/layout.hpp"
#include "ipc/shared_word.hpp"

namespace rocem::ipc {

// Slots of a ring, reached by free-running index.
class RingSlots {
 public:
    RingSlots() = default;
    // `object` is where the layout's offset counts from.
    RingSlots(void* object, const RingShape& shape)
        : first_(static_cast<std::byte*>(object) + shape.offset),
          mask_(shape.slots - 1),
          stride_(shape.stride),
          capacity_(shape.capacity) {
        assert(std::has_single_bit(shape.slots) && shape.capacity <= shape.slots);
    }

    std::byte* at(std::uint32_t index) const { return first_ + std::size_t{index & mask_} * stride_; }
    std::uint32_t capacity() const { return capacity_; }
    std::uint32_t stride() const { return stride_; }

 private:
    std::byte* first_ = nullptr;
    std::uint32_t mask_ = 0;
    std::uint32_t stride_ = 0;
    std::uint32_t capacity_ = 0;
};

class Producer {
 public:
    Producer() = default;
    // Goes on where the ring's life began or, after a RESET, where it stopped: `start` entries published and
    // consumed.
    Producer(RingWords* words, const RingSlots& slots, std::uint32_t start = 0)
        : words_(words), slots_(slots), tail_(start) {}

    std::uint32_t tail() const { return tail_; }  // index of the next entry
    std::uint32_t capacity() const { return slots_.capacity(); }
    std::byte* slot(std::uint32_t index) const { return slots_.at(index); }

    // Entries that the peer has not given back; nothing if it claims to have given back what it never got.
    std::optional<std::uint32_t> outstanding() const {
        const std::uint32_t used = tail_ - load_shared(words_->consumer, std::memory_order_acquire);
        if (used > slots_.capacity()) return std::nullopt;
        return used;
    }

    // Shows the peer the next `count` entries, which are written. seq_cst where a flag of the peer is read
    // next.
    void publish(std::uint32_t count, std::memory_order order = std::memory_order_release) {
        tail_ += count;
        store_shared(words_->producer, tail_, order);
    }

 private:
    RingWords* words_ = nullptr;
    RingSlots slots_;
    std::uint32_t tail_ = 0;
};

// The consumer of a ring whose producer is not believed.
class UntrustedConsumer {
 public:
    UntrustedConsumer() = default;
    UntrustedConsumer(RingWords* words, const RingSlots& slots, std::uint32_t start = 0)
        : words_(words), slots_(slots), head_(start) {}

    std::uint32_t head() const { return head_; }  // index of the next entry
    std::uint32_t capacity() const { return slots_.capacity(); }
    const std::byte* slot(std::uint32_t index) const { return slots_.at(index); }

    // Entries published and not yet taken; nothing if the peer's index is outside [head, head + capacity].
    std::optional<std::uint32_t> available(std::memory_order order = std::memory_order_acquire) const {
        return within(load_shared(words_->producer, order));
    }

    // How many entries lie before `index`, which came by another way (a command); nothing if it is outside
    // the window.
    std::optional<std::uint32_t> within(std::uint32_t index) const {
        const std::uint32_t count = index - head_;
        if (count > slots_.capacity()) return std::nullopt;
        return count;
    }

    // The next entry's first `bytes` (a multiple of 8, at most the stride), copied once. It must be
    // available.
    void copy_next(void* to, std::size_t bytes, std::size_t skip = 0) const {
        assert(skip + bytes <= slots_.stride());
        copy_untrusted(to, slots_.at(head_) + skip, bytes);
    }

    // Done with the next `count` entries: what gives_back() will tell the peer.
    void take(std::uint32_t count) { head_ += count; }

    // Tells the peer that the slots of all taken entries are free.
    void give_back() { store_shared(words_->consumer, head_, std::memory_order_release); }

 private:
    RingWords* words_ = nullptr;
    RingSlots slots_;
    std::uint32_t head_ = 0;
};

}  // namespace rocem::ipc
