// From a 32-bit number of the wire (QPN, key) to a slot: open addressing, one cache line a look-up, no
// allocation after construction. Holds at most half of its buckets.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocem::engine {

class IdMap {
 public:
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit IdMap(std::uint32_t entries_max)
        : buckets_(std::bit_ceil(std::size_t{entries_max} * 2 + 2)), mask_(buckets_.size() - 1) {}

    std::uint32_t find(std::uint32_t id) const {
        for (std::size_t at = home(id);; at = (at + 1) & mask_) {
            if (buckets_[at].slot == none) return none;
            if (buckets_[at].id == id) return buckets_[at].slot;
        }
    }

    // id must not be in the map.
    void insert(std::uint32_t id, std::uint32_t slot) {
        assert(size_ * 2 < buckets_.size());
        std::size_t at = home(id);
        while (buckets_[at].slot != none)
            at = (at + 1) & mask_;
        buckets_[at] = {id, slot};
        ++size_;
    }

    void erase(std::uint32_t id) {
        std::size_t hole = home(id);
        while (buckets_[hole].id != id || buckets_[hole].slot == none) {
            if (buckets_[hole].slot == none) return;
            hole = (hole + 1) & mask_;
        }
        --size_;
        // Entries behind the hole move up, so that no look-up stops early.
        for (std::size_t at = (hole + 1) & mask_; buckets_[at].slot != none; at = (at + 1) & mask_) {
            const std::size_t wanted = home(buckets_[at].id);
            if (((at - wanted) & mask_) >= ((at - hole) & mask_)) {
                buckets_[hole] = buckets_[at];
                hole = at;
            }
        }
        buckets_[hole].slot = none;
    }

 private:
    struct Bucket {
        std::uint32_t id = 0;
        std::uint32_t slot = none;
    };

    std::size_t home(std::uint32_t id) const { return (id * 0x9e3779b1u >> 7) & mask_; }

    std::vector<Bucket> buckets_;
    std::size_t mask_;
    std::size_t size_ = 0;
};

}  // namespace rocem::engine
