#include "daemon/control/session_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace rocem::daemon {
namespace {

// A segment for small objects; what needs more than a quarter of one is not small.
constexpr std::uint64_t shared_segment_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t small_bytes_max = shared_segment_bytes / 4;

std::uint64_t whole_lines(std::uint64_t bytes) {
    return (bytes + ROCEM_ABI_CACHE_LINE - 1) / ROCEM_ABI_CACHE_LINE * ROCEM_ABI_CACHE_LINE;
}

}  // namespace

tl::expected<ipc::SharedRegion, std::string> SessionMemory::make_segment(const char* name,
                                                                         std::uint64_t bytes) {
    // Compared before it is rounded up: a client may ask for 2^64 - 1 bytes.
    if (bytes > limits_.bytes_max || ipc::whole_pages(bytes) > limits_.bytes_max - bytes_) {
        return tl::unexpected(
            fmt::format("{} bytes more than the {} in use are above session_memory_bytes_max {}", bytes,
                        bytes_, limits_.bytes_max));
    }
    if (segments_ >= limits_.segments_max) {
        return tl::unexpected(fmt::format("session_segments_max {} is reached", limits_.segments_max));
    }
    ipc::SharedRegion region = ipc::make_region(name, bytes);
    if (!region)
        return tl::unexpected(fmt::format("no memory for {} bytes: {}", bytes, std::strerror(errno)));
    bytes_ += region.mapping.size();
    ++segments_;
    return region;
}

void SessionMemory::forget_segment(std::uint64_t bytes) {
    bytes_ -= bytes;
    --segments_;
}

tl::expected<ObjectMemory, std::string> SessionMemory::allocate(std::uint64_t bytes) {
    const std::uint64_t needed = whole_lines(bytes);
    for (auto& [id, segment] : shared_) {
        if (auto object = carve(id, segment, needed)) return *object;
    }
    auto region = make_segment("rocem-queues", needed > small_bytes_max ? needed : shared_segment_bytes);
    if (!region) return tl::unexpected(region.error());
    const std::uint32_t id = next_id_++;
    Segment& segment = shared_[id];
    segment.region = std::move(*region);
    segment.holes.emplace(0, segment.region.mapping.size());
    return *carve(id, segment, needed);
}

std::optional<ObjectMemory> SessionMemory::carve(std::uint32_t id, Segment& segment, std::uint64_t bytes) {
    const auto hole = std::find_if(segment.holes.begin(), segment.holes.end(),
                                   [&](const auto& entry) { return entry.second >= bytes; });
    if (hole == segment.holes.end()) return std::nullopt;
    const auto [offset, size] = *hole;
    segment.holes.erase(hole);
    if (size > bytes) segment.holes.emplace(offset + bytes, size - bytes);
    ObjectMemory object;
    object.ref = {.segment_id = id,
                  .reserved = 0,
                  .segment_bytes = segment.region.mapping.size(),
                  .offset = offset,
                  .bytes = bytes};
    object.address = segment.region.mapping.data() + offset;
    object.fd = segment.region.fd.get();
    return object;
}

void SessionMemory::release(const ipc::SegmentRef& ref) {
    const auto found = shared_.find(ref.segment_id);
    Segment& segment = found->second;
    // The head is enough: the next tenant's rings start at index 0, and no slot is read before it was
    // written.
    std::memset(segment.region.mapping.data() + ref.offset, 0,
                std::min<std::size_t>(ref.bytes, sizeof(ipc::QpHead)));
    std::uint64_t offset = ref.offset;
    std::uint64_t bytes = ref.bytes;
    auto next = segment.holes.lower_bound(offset);
    if (next != segment.holes.end() && next->first == offset + bytes) {
        bytes += next->second;
        next = segment.holes.erase(next);
    }
    if (next != segment.holes.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == offset) {
            offset = before->first;
            bytes += before->second;
            segment.holes.erase(before);
        }
    }
    segment.holes.emplace(offset, bytes);
    if (bytes == segment.region.mapping.size()) {
        forget_segment(bytes);
        shared_.erase(found);
    }
}

}  // namespace rocem::daemon
