// The client memory of one node, and the road to it: answers DMA operations at once, late, or with a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "queue_engine/dma.hpp"

namespace rocem::test {

// When DMA operations are answered. In order within a QP, shuffled across QPs when late.
struct DmaMode {
    unsigned delay_polls = 0;  // turns of the owner between an operation and its answer; 0: the same turn
    bool jitter = false;       // between 0 and delay_polls, drawn anew for each operation
};

class Memory {
 public:
    explicit Memory(std::uint64_t seed) : random_(seed) {}

    // A region of zeros with guard bytes on both sides. Returns its name.
    std::uint64_t add_region(std::size_t length);
    // A region without bytes, for messages larger than the machine: reads give zeros, writes are counted.
    std::uint64_t add_phantom(std::uint64_t length);
    std::span<std::byte> bytes(std::uint64_t region);
    bool guards_intact(std::uint64_t region) const;
    std::uint64_t bytes_moved(std::uint64_t region) const { return regions_.at(region).moved; }

    // Operations that touch this byte fail, from now on; the bytes before it have moved.
    void fault_at_byte(std::uint64_t region, std::uint64_t offset) {
        regions_.at(region).fault_byte = offset;
    }
    // The n-th operation (from 0, counted from now) on this region fails without moving a byte.
    void fault_at_operation(std::uint64_t region, unsigned n);
    void heal(std::uint64_t region);

    void set_mode(DmaMode mode) { mode_ = mode; }
    // No answer leaves until release().
    void hold() { held_ = true; }
    void release() { held_ = false; }
    bool held() const { return held_; }

    void ask(const engine::DmaOp& op, std::uint64_t turn);
    // The answers that are due, in an order the engine must accept. Bytes move here, not when asked.
    std::vector<engine::DmaAnswer> answer(std::uint64_t turn);
    std::size_t pending() const;
    // Every operation that was asked for so far.
    const std::vector<engine::DmaOp>& operations() const { return operations_; }
    void keep_operations() { keep_operations_ = true; }
    bool pending_for(engine::RxToken token) const;
    bool pending_into(std::span<const std::byte> frame) const;

    // What no engine may ask for: an operation outside its region, a misaligned atomic. Empty if it never
    // did.
    const std::vector<std::string>& violations() const { return violations_; }

 private:
    static constexpr std::size_t guard_bytes = 64;
    static constexpr std::byte guard_fill{0xee};

    struct Region {
        std::vector<std::byte> bytes;  // guard, data, guard; empty for a phantom
        std::uint64_t length = 0;
        std::uint64_t moved = 0;
        std::optional<std::uint64_t> fault_byte;
        std::optional<unsigned> operations_until_fault;
    };
    struct Pending {
        engine::DmaOp op;
        std::uint64_t due_turn = 0;
    };
    using QpKey = std::uint64_t;

    engine::DmaAnswer execute(const engine::DmaOp& op);
    bool faulty(Region& region, const engine::DmaOp& op, std::uint32_t& usable) const;
    void violation(const engine::DmaOp& op, const char* why);

    std::map<std::uint64_t, Region> regions_;
    std::uint64_t next_region_ = 1;
    DmaMode mode_;
    bool held_ = false;
    std::map<QpKey, std::deque<Pending>> pending_;
    bool keep_operations_ = false;
    std::vector<engine::DmaOp> operations_;
    std::mt19937_64 random_;
    std::vector<std::string> violations_;
};

}  // namespace rocem::test
