// Protection domains, memory regions and their keys: who may touch which bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/ids.hpp"
#include "queue_engine/engine.hpp"
#include "queue_engine/errors.hpp"
#include "queue_engine/handles.hpp"
#include "queue_engine/id_map.hpp"
#include "queue_engine/random.hpp"
#include "queue_engine/slot_table.hpp"

namespace rocem::engine {

// Bytes that a key gave access to.
struct Translation {
    std::uint32_t mr = 0;  // slot, for dma_started and dma_answered
    std::uint64_t region = 0;
    std::uint64_t region_offset = 0;
};

class Memory {
 public:
    explicit Memory(const DeviceLimits& limits);

    Expected<PdHandle> create_pd();
    Error destroy_pd(PdHandle pd);
    bool exists(PdHandle pd) const { return pds_.find(pd) != nullptr; }
    // A QP uses its PD until it is gone.
    void attach(PdHandle pd) { ++pds_.find(pd)->users; }
    void detach(PdHandle pd) { --pds_.find(pd)->users; }

    Expected<MrInfo> register_mr(PdHandle pd, const MrSpec& spec, Random& random);
    Error deregister_mr(MrHandle mr);
    bool exists(MrHandle mr) const { return mrs_.find(mr) != nullptr; }

    // Bytes [va, va + length) if the key names a region of this PD that holds them all and grants access
    // (every bit).
    std::optional<Translation> translate(std::uint32_t key, PdHandle pd, std::uint64_t va,
                                         std::uint64_t length, std::uint32_t access) const;

    // DMA operations on a region that are not answered: a deregistered region exists until there are none.
    void dma_started(std::uint32_t mr) { ++mrs_.at(mr)->dma_pending; }
    void dma_answered(std::uint32_t mr);

    std::uint32_t pd_count() const { return pds_.size(); }
    std::uint32_t mr_count() const { return mrs_.size(); }

 private:
    struct Pd {
        std::uint32_t users = 0;
    };
    struct Mr {
        MrSpec spec;
        PdHandle pd;
        std::uint32_t key = 0;
        std::uint32_t dma_pending = 0;
        bool registered = true;
    };

    Expected<std::uint32_t> choose_key(const MrSpec& spec, Random& random) const;

    const DeviceLimits& limits_;
    SlotTable<Pd, PdHandle> pds_;
    SlotTable<Mr, MrHandle> mrs_;
    IdMap by_key_;  // upper 24 bits of the key -> MR slot
};

}  // namespace rocem::engine
