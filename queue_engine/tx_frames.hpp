// Frames between poll_transmit and poll_frame: written, but not yet cleared to leave.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/psn.hpp"
#include "queue_engine/dma.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/ring_buffer.hpp"

namespace rocem::engine {

enum class FrameRole : std::uint8_t { request, response };

struct PendingFrame {
    FrameRole role = FrameRole::request;
    bool faulty = false;      // a read of its payload failed
    std::uint32_t qp = 0;     // slot
    std::uint32_t epoch = 0;  // Qp's epoch of that role when it was built
    std::uint32_t dma_pending = 0;
    std::uint32_t length = 0;     // bytes
    std::uint32_t wqe = no_node;  // requests
    protocol::Psn psn;
    std::uint32_t psns = 1;        // requests: PSNs that it takes
    std::uint32_t next = no_node;  // in the QP's queue of that role
};

// Frames of one QP and role, oldest first: they leave in this order.
struct FrameQueue {
    std::uint32_t head = no_node;
    std::uint32_t tail = no_node;
};

class TxFrames {
 public:
    explicit TxFrames(std::uint32_t frames_max) : frames_(frames_max) {
        free_.reserve(frames_max);
        for (std::uint32_t i = frames_max; i-- > 0;)
            free_.push_back(i);
    }

    bool full() const { return free_.empty(); }
    std::uint32_t available() const { return static_cast<std::uint32_t>(free_.size()); }
    PendingFrame& operator[](TxFrameId id) { return frames_[id]; }

    // Not full.
    TxFrameId append(FrameQueue& queue, const PendingFrame& frame) {
        const TxFrameId id = free_.back();
        free_.pop_back();
        frames_[id] = frame;
        if (queue.tail == no_node) {
            queue.head = id;
        } else {
            frames_[queue.tail].next = id;
        }
        queue.tail = id;
        return id;
    }

    // Moves frames whose payload is complete, and that no earlier one holds up, to the way out.
    void release_ready(FrameQueue& queue) {
        while (queue.head != no_node && frames_[queue.head].dma_pending == 0) {
            ready_.push(queue.head);
            queue.head = frames_[queue.head].next;
        }
        if (queue.head == no_node) queue.tail = no_node;
    }

    bool poll_ready(TxFrameId& id) {
        if (ready_.empty()) return false;
        id = ready_.front();
        ready_.pop();
        return true;
    }

    void free(TxFrameId id) { free_.push_back(id); }

 private:
    std::vector<PendingFrame> frames_;
    std::vector<TxFrameId> free_;
    RingBuffer<TxFrameId> ready_{256};
};

}  // namespace rocem::engine
