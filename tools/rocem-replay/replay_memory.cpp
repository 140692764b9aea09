#include "tools/rocem-replay/replay_memory.hpp"

#include <bit>
#include <cstring>

namespace rocem::tools {

static_assert(std::endian::native == std::endian::little);

ReplayMemory::Cell ReplayMemory::cell(std::uint64_t region, std::uint64_t offset) {
    const auto [found, is_new] = pages_.try_emplace({region, offset / page_bytes});
    Page& page = found->second;
    if (is_new) fill_initially(page, regions_[region - 1], offset / page_bytes * page_bytes);
    return {page.bytes[offset % page_bytes], page.known[offset % page_bytes]};
}

void ReplayMemory::fill_initially(Page& page, const RegionFact& region, std::uint64_t start) {
    const std::vector<std::byte>& bytes = region.initial_bytes;
    if (bytes.empty()) return;
    for (std::size_t i = 0; i < page_bytes; ++i) {
        const std::uint64_t at = start + i;
        if (region.initial_bytes_repeat || at < bytes.size()) page.bytes[i] = bytes[at % bytes.size()];
    }
    page.known.set();
}

void ReplayMemory::seed(protocol::RKey key, std::uint64_t va, std::span<const std::byte> bytes) {
    for (std::size_t index = 0; index < regions_.size(); ++index) {
        const RegionFact& region = regions_[index];
        if (region.r_key != key) continue;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::uint64_t at = va + i;
            if (at < region.va || at - region.va >= region.length) continue;
            const Cell here = cell(region_number(index), at - region.va);
            if (here.known && !region.changed_by_application) continue;
            here.byte = bytes[i];
            auto known = here.known;
            known = true;
        }
    }
}

engine::DmaAnswer ReplayMemory::execute(const engine::DmaOp& op) {
    engine::DmaAnswer answer;
    answer.id = op.id;
    if (op.region == receive_region) return answer;  // only written, never looked at
    switch (op.kind) {
        case engine::DmaKind::read:
            for (std::uint32_t i = 0; i < op.length; ++i)
                op.to_frame[i] = cell(op.region, op.region_offset + i).byte;
            break;
        case engine::DmaKind::write:
            for (std::uint32_t i = 0; i < op.length; ++i) {
                const Cell here = cell(op.region, op.region_offset + i);
                here.byte = op.from_frame[i];
                auto known = here.known;
                known = true;
            }
            break;
        case engine::DmaKind::compare_swap:
        case engine::DmaKind::fetch_add:
            answer.original = atomic(op);
            break;
    }
    return answer;
}

std::uint64_t ReplayMemory::atomic(const engine::DmaOp& op) {
    std::array<std::byte, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = cell(op.region, op.region_offset + i).byte;
    const auto original = std::bit_cast<std::uint64_t>(bytes);
    std::uint64_t value = original;
    if (op.kind == engine::DmaKind::fetch_add) {
        value += op.swap_or_add;
    } else if (original == op.compare) {
        value = op.swap_or_add;
    }
    bytes = std::bit_cast<std::array<std::byte, 8>>(value);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        cell(op.region, op.region_offset + i).byte = bytes[i];
    return original;
}

}  // namespace rocem::tools
