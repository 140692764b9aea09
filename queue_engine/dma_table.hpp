// DMA operations that were asked for and not answered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "queue_engine/dma.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/ring_buffer.hpp"

namespace rocem::engine {

// What an answer belongs to.
enum class DmaPurpose : std::uint8_t {
    frame_payload,  // reference: TxFrameId
    request_data,   // reference: ReceivedPacket node of the responder
    response_data,  // reference: SendWqe node of the requester
};

struct PendingDma {
    DmaPurpose purpose = DmaPurpose::frame_payload;
    std::uint32_t reference = 0;
    std::uint32_t qp = 0;    // slot
    std::uint32_t mr = 0;    // slot
    std::uint32_t life = 0;  // Qp::life when it was asked for: answers to an earlier life are only counted
    std::uint64_t id = 0;    // 0: free
    // A write whose bytes stand in no frame (an atomic's result): kept here until the answer, whatever
    // becomes of the work request.
    std::array<std::byte, 8> own_bytes{};
};

class DmaTable {
 public:
    static constexpr unsigned slot_bits = 20;
    static constexpr std::uint32_t operations_max_max = 1u << slot_bits;

    explicit DmaTable(std::uint32_t operations_max) : slots_(operations_max) {
        free_.reserve(operations_max);
        for (std::uint32_t i = operations_max; i-- > 0;)
            free_.push_back(i);
    }

    std::uint32_t available() const { return static_cast<std::uint32_t>(free_.size()); }

    // Needs an available slot; fills op.id and queues the operation for poll. A write without from_frame
    // takes pending.own_bytes.
    void start(DmaOp op, PendingDma pending) {
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        pending.id = op.id = ++sequence_ << slot_bits | slot;
        slots_[slot] = pending;
        if (op.kind == DmaKind::write && op.from_frame == nullptr)
            op.from_frame = slots_[slot].own_bytes.data();
        outgoing_.push(op);
    }

    bool poll(DmaOp& op) {
        if (outgoing_.empty()) return false;
        op = outgoing_.front();
        outgoing_.pop();
        return true;
    }

    // The operation that an id names, taken out of the table. False for an id that names none.
    bool finish(std::uint64_t id, PendingDma& pending) {
        const std::uint64_t slot = id & ((std::uint64_t{1} << slot_bits) - 1);
        if (id == 0 || slot >= slots_.size() || slots_[slot].id != id) return false;
        pending = slots_[slot];
        slots_[slot].id = 0;
        free_.push_back(static_cast<std::uint32_t>(slot));
        return true;
    }

 private:
    std::vector<PendingDma> slots_;
    std::vector<std::uint32_t> free_;
    RingBuffer<DmaOp> outgoing_{256};
    std::uint64_t sequence_ = 0;
};

}  // namespace rocem::engine
