// Frames in DPDK buffers, without DPDK's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace rocem::daemon {

// A handle on one buffer: whoever holds it owns one reference to it. Copying the handle copies no reference.
struct FrameBuffer {
    void* handle = nullptr;  // rte_mbuf
    std::byte* data = nullptr;
    std::uint32_t length = 0;    // bytes of the frame
    std::uint32_t capacity = 0;  // bytes from data on

    std::span<std::byte> room() const { return {data, capacity}; }
    std::span<const std::byte> bytes() const { return {data, length}; }
};

// Buffers of one size. Any thread may free; allocation is for the worker that owns the NIC.
class FramePool {
 public:
    // frames: how many buffers; capacity: bytes of each.
    static tl::expected<std::unique_ptr<FramePool>, std::string> create(const std::string& name,
                                                                        std::uint32_t frames,
                                                                        std::uint32_t capacity);
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    // Fills as many handles as there are free buffers for; returns how many.
    std::size_t allocate(std::span<FrameBuffer> out);
    std::uint32_t available() const;
    void* dpdk_pool() const { return pool_; }

 private:
    explicit FramePool(void* pool) : pool_(pool) {}
    void* pool_;
};

// Gives one reference back.
void free_frame(FrameBuffer frame);
void free_frames(std::span<const FrameBuffer> frames);
// Takes one more reference: the frame outlives the next free_frame.
void retain_frame(FrameBuffer frame);
// Whether somebody else holds a reference, so that the bytes must not be changed in place.
bool frame_is_shared(FrameBuffer frame);

}  // namespace rocem::daemon
