// A way to a client's bytes (decision 3). A road answers at once or later, in the order of its operations per
// QP.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "daemon/region_table.hpp"
#include "queue_engine/dma.hpp"

namespace rocem::daemon {

class DmaRoad {
 public:
    DmaRoad() = default;
    virtual ~DmaRoad() = default;
    DmaRoad(const DmaRoad&) = delete;
    DmaRoad& operator=(const DmaRoad&) = delete;

    // True for a road whose move() always answers.
    virtual bool answers_at_once() const = 0;

    // Takes an operation whose range lies inside the region. The answer, or nothing: then collect() brings
    // it. The op's frame memory stays valid until the answer is out.
    virtual std::optional<engine::DmaAnswer> move(const engine::DmaOp& op, const DmaRegion& region) = 0;

    // Answers that have come since; returns how many were written.
    virtual std::size_t collect(std::span<engine::DmaAnswer> answers) = 0;
};

}  // namespace rocem::daemon
