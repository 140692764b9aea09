#include "client/segments.hpp"

#include <cerrno>

namespace rocem::client {

std::byte* SegmentTable::acquire(const ipc::SegmentRef& ref, const ipc::UniqueFd& fd,
                                 std::uint64_t bytes_needed) {
    if (!ipc::holds(ref, bytes_needed)) {
        errno = EPROTO;
        return nullptr;
    }
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = segments_.try_emplace(ref.segment_id);
    Segment& segment = place->second;
    if (is_new) {
        segment.mapping = ipc::map_sealed(fd.get(), ref.segment_bytes, ipc::Access::read_write);
        if (!segment.mapping) {
            const int error = errno;
            segments_.erase(place);
            errno = error;
            return nullptr;
        }
    } else if (segment.mapping.size() != ref.segment_bytes) {
        errno = EPROTO;
        return nullptr;
    }
    ++segment.objects;
    return segment.mapping.data() + ref.offset;
}

void SegmentTable::release(std::uint32_t segment_id) {
    const std::lock_guard lock(mutex_);
    const auto place = segments_.find(segment_id);
    if (place != segments_.end() && --place->second.objects == 0) segments_.erase(place);
}

}  // namespace rocem::client
