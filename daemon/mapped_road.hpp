// Road (a): memory that the daemon made for the client and has mapped. Plain copies, answered at once.
#pragma once

#include "daemon/dma_road.hpp"

namespace rocem::daemon {

class MappedRoad final : public DmaRoad {
 public:
    bool answers_at_once() const override { return true; }
    std::optional<engine::DmaAnswer> move(const engine::DmaOp& op, const DmaRegion& region) override;
    std::size_t collect(std::span<engine::DmaAnswer>) override { return 0; }
};

}  // namespace rocem::daemon
