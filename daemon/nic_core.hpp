// The part of a NIC that sessions work on: its engine, and how the engine reaches client memory.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/dma_engine.hpp"
#include "daemon/mapped_road.hpp"
#include "daemon/region_table.hpp"
#include "queue_engine/engine.hpp"

namespace rocem::daemon {

class ClientSession;

// Whose an engine object is, and in which slot of its session.
struct SlotOwner {
    ClientSession* session = nullptr;
    std::uint32_t slot = 0;
};

// Owners by the index of an engine handle.
class OwnerTable {
 public:
    void set(std::uint32_t index, SlotOwner owner) {
        if (index >= owners_.size()) owners_.resize(index + 1);
        owners_[index] = owner;
    }
    void clear(std::uint32_t index) { owners_[index] = {}; }
    SlotOwner at(std::uint32_t index) const { return index < owners_.size() ? owners_[index] : SlotOwner{}; }

 private:
    std::vector<SlotOwner> owners_;
};

struct NicCore {
    NicCore(const engine::EngineSettings& settings, const engine::Seed& seed, std::uint32_t rx_frames_max)
        : engine(settings, seed),
          dma(regions, {.ops_max = settings.dma_ops_max, .rx_frames_max = rx_frames_max}) {}

    // Answers every operation that can be answered now. Whether there was one.
    bool run_dma(engine::Time now);

    engine::Engine engine;
    RegionTable regions;
    MappedRoad mapped_road;
    DmaEngine dma;
    OwnerTable qp_owners;
    OwnerTable cq_owners;
};

}  // namespace rocem::daemon
