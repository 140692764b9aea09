// A set of slots in shared memory: cost per member, never per slot (decision 1).
#pragma once

#include <bit>
#include <cstdint>

#include "ipc/abi.h"
#include "ipc/layout.hpp"
#include "ipc/shared_word.hpp"

namespace rocem::ipc {

inline constexpr std::uint32_t queue_slots_max = ROCEM_ABI_QUEUE_SLOTS_MAX;

// Adds a slot below queue_slots_max. Any thread. A seq_cst write in every case, so that a flag of the taker
// that is read next is not older.
inline void mark(Bitmap& bitmap, std::uint32_t slot) {
    const std::uint32_t leaf = slot / 64;
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    const std::uint64_t before =
        std::atomic_ref<std::uint64_t>(bitmap.leaves[leaf]).fetch_or(bit, std::memory_order_seq_cst);
    // A bit that was set has not been taken since: the taker will come to this leaf, and sees what we
    // published.
    if ((before & bit) != 0) return;
    std::atomic_ref<std::uint64_t>(bitmap.summary[leaf / 64])
        .fetch_or(std::uint64_t{1} << (leaf % 64), std::memory_order_seq_cst);
}

// Whether there may be members. seq_cst: for the look before sleeping.
inline bool any_marked(const Bitmap& bitmap) {
    for (const std::uint64_t& word : bitmap.summary) {
        if (load_shared(word, std::memory_order_seq_cst) != 0) return true;
    }
    return false;
}

// Takes all members and hands each to visit(slot). One thread at a time; the other side may lie about
// members.
template <class Visit>
void take_marked(Bitmap& bitmap, Visit&& visit) {
    for (std::uint32_t s = 0; s < ROCEM_ABI_BITMAP_SUMMARIES; ++s) {
        if (load_shared(bitmap.summary[s], std::memory_order_relaxed) == 0) continue;
        std::uint64_t leaves =
            std::atomic_ref<std::uint64_t>(bitmap.summary[s]).exchange(0, std::memory_order_seq_cst);
        for (; leaves != 0; leaves &= leaves - 1) {
            const std::uint32_t leaf = s * 64 + static_cast<std::uint32_t>(std::countr_zero(leaves));
            std::uint64_t bits =
                std::atomic_ref<std::uint64_t>(bitmap.leaves[leaf]).exchange(0, std::memory_order_seq_cst);
            for (; bits != 0; bits &= bits - 1) {
                visit(leaf * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
            }
        }
    }
}

}  // namespace rocem::ipc
