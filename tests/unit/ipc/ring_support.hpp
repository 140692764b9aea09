// A ring of 64-byte entries in ordinary memory, and both of its ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ipc/ring.hpp"

namespace rocem::test {

struct Entry {
    std::uint64_t number = 0;
    std::uint64_t echo[7] = {};  // each again `number`: a torn or stale copy shows
};
static_assert(sizeof(Entry) == 64);

class TestRing {
 public:
    // Both ends start at `start`: indices wrap at 2^32.
    TestRing(std::uint32_t capacity, std::uint32_t slots, std::uint32_t start)
        : memory_((sizeof(ipc::RingWords) + std::size_t{slots} * sizeof(Entry)) / sizeof(std::uint64_t)) {
        ipc::RingShape shape;
        shape.offset = sizeof(ipc::RingWords);
        shape.slots = slots;
        shape.capacity = capacity;
        shape.stride = sizeof(Entry);
        words().producer = start;
        words().consumer = start;
        producer = ipc::Producer(&words(), ipc::RingSlots(memory_.data(), shape), start);
        consumer = ipc::UntrustedConsumer(&words(), ipc::RingSlots(memory_.data(), shape), start);
    }

    ipc::RingWords& words() { return *reinterpret_cast<ipc::RingWords*>(memory_.data()); }

    void write(std::uint32_t ahead, std::uint64_t number) {
        Entry entry;
        entry.number = number;
        for (std::uint64_t& echo : entry.echo)
            echo = number;
        std::memcpy(producer.slot(producer.tail() + ahead), &entry, sizeof(entry));
    }

    Entry read() {
        Entry entry;
        consumer.copy_next(&entry, sizeof(entry));
        consumer.take(1);
        return entry;
    }

    ipc::Producer producer;
    ipc::UntrustedConsumer consumer;

 private:
    std::vector<std::uint64_t> memory_;
};

}  // namespace rocem::test
