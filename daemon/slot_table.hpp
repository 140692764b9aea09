// Objects by slot number, in a vector that grows up to a limit and fills its holes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rocem::daemon {

template <class T>
class SlotTable {
 public:
    explicit SlotTable(std::uint32_t slots_max) : slots_max_(slots_max) {}

    bool full() const { return free_.empty() && entries_.size() == slots_max_; }
    std::size_t size() const { return entries_.size() - free_.size(); }

    // The slot that add() will fill. The table is not full.
    std::uint32_t next_slot() const {
        return free_.empty() ? static_cast<std::uint32_t>(entries_.size()) : free_.back();
    }

    std::uint32_t add(T value) {
        const std::uint32_t slot = next_slot();
        if (free_.empty()) {
            entries_.emplace_back(std::move(value));
        } else {
            free_.pop_back();
            entries_[slot].emplace(std::move(value));
        }
        return slot;
    }

    void remove(std::uint32_t slot) {
        entries_[slot].reset();
        free_.push_back(slot);
    }

    // Any number may be asked for: it may come from a client.
    T* find(std::uint32_t slot) {
        return slot < entries_.size() && entries_[slot] ? &*entries_[slot] : nullptr;
    }
    const T* find(std::uint32_t slot) const {
        return slot < entries_.size() && entries_[slot] ? &*entries_[slot] : nullptr;
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t slot = 0; slot < entries_.size(); ++slot) {
            if (entries_[slot]) visit(slot, *entries_[slot]);
        }
    }

 private:
    std::vector<std::optional<T>> entries_;
    std::vector<std::uint32_t> free_;
    std::uint32_t slots_max_;
};

}  // namespace rocem::daemon
