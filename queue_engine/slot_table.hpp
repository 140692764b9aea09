// Objects by handle. A slot's generation changes with its tenant, so that an old handle finds nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "queue_engine/handles.hpp"

namespace rocem::engine {

template <class Object, class HandleType>
class SlotTable {
 public:
    explicit SlotTable(std::uint32_t objects_max) : objects_max_(objects_max) {}

    std::uint32_t size() const { return size_; }
    bool full() const { return size_ == objects_max_; }

    // The table must not be full.
    HandleType emplace() {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(slots_.size()));
            slots_.emplace_back();
        }
        // The slot freed longest ago: names are not reused at once.
        const std::uint32_t index = free_.front();
        free_.pop_front();
        Slot& slot = slots_[index];
        slot.object = std::make_unique<Object>();
        ++size_;
        return {index, slot.generation};
    }

    void erase(HandleType handle) {
        Slot& slot = slots_[handle.index];
        slot.object.reset();
        if (++slot.generation == 0) slot.generation = 1;
        free_.push_back(handle.index);
        --size_;
    }

    Object* find(HandleType handle) const {
        if (handle.index >= slots_.size()) return nullptr;
        const Slot& slot = slots_[handle.index];
        return slot.generation == handle.generation ? slot.object.get() : nullptr;
    }

    // The tenant of a slot, whatever its generation.
    Object* at(std::uint32_t index) const { return slots_[index].object.get(); }
    HandleType handle_at(std::uint32_t index) const { return {index, slots_[index].generation}; }
    std::uint32_t slots() const { return static_cast<std::uint32_t>(slots_.size()); }

 private:
    struct Slot {
        std::unique_ptr<Object> object;
        std::uint32_t generation = 1;
    };

    std::uint32_t objects_max_;
    std::uint32_t size_ = 0;
    std::vector<Slot> slots_;
    std::deque<std::uint32_t> free_;
};

}  // namespace rocem::engine
