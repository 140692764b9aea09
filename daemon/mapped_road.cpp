#include "daemon/mapped_road.hpp"

#include <atomic>
#include <cstring>

namespace rocem::daemon {
namespace {

// The client may spin on the last byte while this runs: a large memcpy is torn, its last byte can come first.
void copy_last_byte_last(std::byte* to, const std::byte* from, std::size_t length) {
    std::memcpy(to, from, length - 1);
    std::atomic_ref<std::byte> last(to[length - 1]);
    last.store(from[length - 1], std::memory_order_release);
}

std::optional<std::uint64_t> change(const engine::DmaOp& op, std::byte* at) {
    // The responder checked the virtual address; where the bytes are mapped is known only here.
    if (reinterpret_cast<std::uintptr_t>(at) % alignof(std::uint64_t) != 0) return std::nullopt;
    std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(at));
    if (op.kind == engine::DmaKind::fetch_add) {
        return word.fetch_add(op.swap_or_add, std::memory_order_seq_cst);
    }
    std::uint64_t original = op.compare;
    word.compare_exchange_strong(original, op.swap_or_add, std::memory_order_seq_cst);
    return original;
}

}  // namespace

std::optional<engine::DmaAnswer> MappedRoad::move(const engine::DmaOp& op, const DmaRegion& region) {
    std::byte* const at = region.base + op.region_offset;
    engine::DmaAnswer answer{.id = op.id, .ok = true, .original = 0};
    switch (op.kind) {
        case engine::DmaKind::read:
            std::memcpy(op.to_frame, at, op.length);
            break;
        case engine::DmaKind::write:
            if (op.last_byte_last && op.length > 0) {
                copy_last_byte_last(at, op.from_frame, op.length);
            } else {
                std::memcpy(at, op.from_frame, op.length);
            }
            break;
        case engine::DmaKind::compare_swap:
        case engine::DmaKind::fetch_add:
            if (const auto original = change(op, at)) {
                answer.original = *original;
            } else {
                answer.ok = false;
            }
            break;
    }
    return answer;
}

}  // namespace rocem::daemon
