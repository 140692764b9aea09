#include "daemon/region_table.hpp"

#include <cassert>

namespace rocem::daemon {

std::uint64_t RegionTable::add(const DmaRegion& region) {
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(slots_.size());
        slots_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    Slot& slot = slots_[index];
    slot.region = region;
    slot.used = true;
    ++slot.generation;
    ++used_;
    return std::uint64_t{slot.generation} << 32 | index;
}

void RegionTable::remove(std::uint64_t name) {
    assert(find(name) != nullptr);
    const auto index = static_cast<std::uint32_t>(name);
    slots_[index].used = false;
    free_.push_back(index);
    --used_;
}

const DmaRegion* RegionTable::find(std::uint64_t name) const {
    const auto index = static_cast<std::uint32_t>(name);
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (!slot.used || slot.generation != static_cast<std::uint32_t>(name >> 32)) return nullptr;
    return &slot.region;
}

}  // namespace rocem::daemon
