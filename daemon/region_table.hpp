// The client memory that one NIC's MRs lie in: the owner's names (MrSpec::region) of mapped bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocem::daemon {

class DmaRoad;

// Bytes of one MR, and the road that reaches them.
struct DmaRegion {
    DmaRoad* road = nullptr;
    std::byte* base = nullptr;   // mapped roads: the MR's first byte in the daemon
    std::uint64_t length = 0;    // bytes; an operation stays inside [0, length)
    std::uint64_t road_key = 0;  // other roads: their own name for the bytes
};

// A name is never given twice, so that a late operation on memory that is gone finds nothing instead of a
// stranger.
class RegionTable {
 public:
    std::uint64_t add(const DmaRegion& region);
    void remove(std::uint64_t name);
    const DmaRegion* find(std::uint64_t name) const;
    std::size_t size() const { return used_; }

 private:
    struct Slot {
        DmaRegion region;
        std::uint32_t generation = 0;
        bool used = false;
    };

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
};

}  // namespace rocem::daemon
