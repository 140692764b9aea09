#include "daemon/dma_engine.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace rocem::daemon {
namespace {

bool points_into_received_frame(const engine::DmaOp& op) {
    return op.kind != engine::DmaKind::read;
}

}  // namespace

DmaEngine::DmaEngine(const RegionTable& regions, const DmaEngineLimits& limits)
    : regions_(regions), slots_(limits.ops_max), frame_uses_(limits.rx_frames_max) {
    answers_.reserve(limits.ops_max);
    for (std::uint32_t index = 0; index < limits.ops_max; ++index)
        give_slot(index);
}

void DmaEngine::add_late_road(DmaRoad& road) {
    late_roads_.push_back(&road);
}

void DmaEngine::remove_late_road(DmaRoad& road) {
    std::erase(late_roads_, &road);
}

void DmaEngine::submit(const engine::DmaOp& op) {
    QpOrder* const order = pending_ == 0 ? nullptr : order_of(op);
    const DmaRegion* const region = check(op);
    const bool must_wait = order != nullptr && order->in_flight > 0 &&
                           (order->held_head != none || region == nullptr || region->road != order->road);
    if (must_wait) {
        hold(op, *order);
    } else if (region == nullptr) {
        fault(op);
    } else {
        start(op, *region);
    }
}

void DmaEngine::collect() {
    if (pending_ == 0) return;
    std::array<engine::DmaAnswer, 32> late;
    for (DmaRoad* road : late_roads_) {
        std::size_t count = 0;
        do {
            count = road->collect(late);
            for (std::size_t i = 0; i < count; ++i) {
                const auto index = static_cast<std::uint32_t>(late[i].id);
                const engine::DmaOp op = slots_[index].op;
                give_slot(index);
                --pending_;
                if (points_into_received_frame(op)) --frame_uses_[op.rx_token];
                answers_.push_back({.id = op.id, .ok = late[i].ok, .original = late[i].original});
                QpOrder& order = orders_[op.qp.index];
                if (--order.in_flight == 0) release_held(order);
            }
        } while (count == late.size());
    }
}

// Only operations that are late or held have an order: a QP without them has no entry that matters.
DmaEngine::QpOrder* DmaEngine::order_of(const engine::DmaOp& op) {
    return op.qp.index < orders_.size() ? &orders_[op.qp.index] : nullptr;
}

// The engine checked key and bounds when it made the operation; the region may have gone since.
const DmaRegion* DmaEngine::check(const engine::DmaOp& op) const {
    const DmaRegion* region = regions_.find(op.region);
    if (region == nullptr) return nullptr;
    if (op.length > region->length || op.region_offset > region->length - op.length) return nullptr;
    return region;
}

void DmaEngine::start(const engine::DmaOp& op, const DmaRegion& region) {
    if (region.road->answers_at_once()) {
        answers_.push_back(*region.road->move(op, region));
        return;
    }
    // The slot is taken first: its number is the road's name for the operation.
    const std::uint32_t index = take_slot(op);
    engine::DmaOp renamed = op;
    renamed.id = index;
    if (const auto answer = region.road->move(renamed, region)) {
        give_slot(index);
        answers_.push_back({.id = op.id, .ok = answer->ok, .original = answer->original});
        return;
    }
    if (op.qp.index >= orders_.size()) orders_.resize(op.qp.index + 1);
    QpOrder& order = orders_[op.qp.index];
    order.road = region.road;
    ++order.in_flight;
    ++pending_;
    if (points_into_received_frame(op)) ++frame_uses_[op.rx_token];
}

void DmaEngine::hold(const engine::DmaOp& op, QpOrder& order) {
    const std::uint32_t index = take_slot(op);
    if (order.held_head == none) {
        order.held_head = index;
    } else {
        slots_[order.held_tail].next = index;
    }
    order.held_tail = index;
    ++pending_;
    if (points_into_received_frame(op)) ++frame_uses_[op.rx_token];
}

// Starts held operations until one is late on a road that the next one does not take.
void DmaEngine::release_held(QpOrder& order) {
    while (order.held_head != none) {
        const std::uint32_t index = order.held_head;
        const engine::DmaOp op = slots_[index].op;
        const DmaRegion* region = check(op);
        if (order.in_flight > 0 && (region == nullptr || region->road != order.road)) return;
        order.held_head = slots_[index].next;
        give_slot(index);
        --pending_;
        if (points_into_received_frame(op)) --frame_uses_[op.rx_token];
        if (region == nullptr) {
            fault(op);
        } else {
            start(op, *region);
        }
    }
}

std::uint32_t DmaEngine::take_slot(const engine::DmaOp& op) {
    assert(free_slot_ != none);  // the engine never has more than ops_max unanswered
    const std::uint32_t index = free_slot_;
    free_slot_ = slots_[index].next;
    slots_[index] = {.op = op, .next = none};
    return index;
}

void DmaEngine::give_slot(std::uint32_t index) {
    slots_[index].next = free_slot_;
    free_slot_ = index;
}

void DmaEngine::fault(const engine::DmaOp& op) {
    answers_.push_back({.id = op.id, .ok = false, .original = 0});
}

}  // namespace rocem::daemon
