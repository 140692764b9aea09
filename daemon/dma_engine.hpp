// Moves payload between frames and client memory, on behalf of one NIC's engine (decision 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/dma_road.hpp"
#include "daemon/region_table.hpp"
#include "queue_engine/dma.hpp"

namespace rocem::daemon {

struct DmaEngineLimits {
    std::uint32_t ops_max = 8192;       // unanswered operations, EngineSettings::dma_ops_max
    std::uint32_t rx_frames_max = 512;  // rx tokens are below this
};

// Answers leave in order within a QP, whatever roads its operations take: an operation waits while an earlier
// one of its QP is under way on another road.
class DmaEngine {
 public:
    DmaEngine(const RegionTable& regions, const DmaEngineLimits& limits);

    // A road whose answers come late is asked by collect(). It outlives this object or is removed first.
    void add_late_road(DmaRoad& road);
    void remove_late_road(DmaRoad& road);

    // Takes one operation. Its answer is in answers() when it came at once.
    void submit(const engine::DmaOp& op);

    // Fetches late answers and starts what waited for them.
    void collect();

    // Answers since the last clear_answers(), for Engine::handle_dma.
    std::span<const engine::DmaAnswer> answers() const { return answers_; }
    void clear_answers() { answers_.clear(); }

    // Operations whose answers have not come.
    std::size_t pending() const { return pending_; }
    // Whether one of them still points into this received frame.
    bool uses_frame(engine::RxToken token) const { return frame_uses_[token] != 0; }

 private:
    static constexpr std::uint32_t none = UINT32_MAX;

    // An operation that is late (on a road) or held (waits for its turn).
    struct Slot {
        engine::DmaOp op;
        std::uint32_t next = none;  // in the QP's list of held operations, or in the free list
    };

    struct QpOrder {
        std::uint32_t in_flight = 0;  // late operations, all on `road`
        DmaRoad* road = nullptr;
        std::uint32_t held_head = none;
        std::uint32_t held_tail = none;
    };

    QpOrder* order_of(const engine::DmaOp& op);
    void start(const engine::DmaOp& op, const DmaRegion& region);
    void hold(const engine::DmaOp& op, QpOrder& order);
    void release_held(QpOrder& order);
    const DmaRegion* check(const engine::DmaOp& op) const;
    std::uint32_t take_slot(const engine::DmaOp& op);
    void give_slot(std::uint32_t index);
    void fault(const engine::DmaOp& op);

    const RegionTable& regions_;
    std::vector<DmaRoad*> late_roads_;
    std::vector<engine::DmaAnswer> answers_;
    std::vector<Slot> slots_;
    std::uint32_t free_slot_ = none;
    std::vector<QpOrder> orders_;  // by QP slot; grows with the first late operation of a QP
    std::vector<std::uint32_t> frame_uses_;
    std::size_t pending_ = 0;
};

}  // namespace rocem::daemon
