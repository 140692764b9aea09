// The memory that one session shares with the daemon, and its limits (decision 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ipc/layout.hpp"
#include "ipc/shared_region.hpp"

namespace rocem::daemon {

struct SessionMemoryLimits {
    std::uint64_t bytes_max = 0;
    std::uint32_t segments_max = 0;
};

// Zeroed bytes of a segment, for a CQ or a QP.
struct ObjectMemory {
    ipc::SegmentRef ref{};
    std::byte* address = nullptr;
    int fd = -1;  // the segment's; stays the owner's
};

// Small objects share segments, so that thousands of queues do not need thousands of mappings; a large object
// has one of its own, which goes with it. Memory regions always have one of their own.
class SessionMemory {
 public:
    explicit SessionMemory(const SessionMemoryLimits& limits) : limits_(limits) {}

    tl::expected<ObjectMemory, std::string> allocate(std::uint64_t bytes);
    // Every object of allocate() comes back once, when neither engine nor worker knows it any more.
    void release(const ipc::SegmentRef& ref);

    // A segment that is not shared among objects.
    tl::expected<ipc::SharedRegion, std::string> make_segment(const char* name, std::uint64_t bytes);
    void forget_segment(std::uint64_t bytes);

    std::uint64_t bytes() const { return bytes_; }
    std::uint32_t segments() const { return segments_; }

 private:
    struct Segment {
        ipc::SharedRegion region;
        std::map<std::uint64_t, std::uint64_t> holes;  // offset -> bytes; never two that touch
    };

    std::optional<ObjectMemory> carve(std::uint32_t id, Segment& segment, std::uint64_t bytes);

    SessionMemoryLimits limits_;
    std::map<std::uint32_t, Segment> shared_;
    std::uint32_t next_id_ = 1;
    std::uint64_t bytes_ = 0;
    std::uint32_t segments_ = 0;
};

}  // namespace rocem::daemon
