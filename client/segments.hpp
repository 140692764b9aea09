// The daemon's segments that this session has mapped. Objects share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "ipc/layout.hpp"
#include "ipc/shared_region.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::client {

class SegmentTable {
 public:
    // The object's first byte, after checking that the segment holds bytes_needed there. null: errno is
    // EPROTO or mmap's. Each success is paired with a release.
    std::byte* acquire(const ipc::SegmentRef& ref, const ipc::UniqueFd& fd, std::uint64_t bytes_needed);
    void release(std::uint32_t segment_id);

 private:
    struct Segment {
        ipc::Mapping mapping;
        std::uint32_t objects = 0;
    };

    std::mutex mutex_;
    std::map<std::uint32_t, Segment> segments_;
};

}  // namespace rocem::client
