#include "daemon/nic/frame_buffer.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "daemon/nic/mbuf.hpp"

namespace rocem::daemon {

tl::expected<std::unique_ptr<FramePool>, std::string> FramePool::create(const std::string& name,
                                                                        std::uint32_t frames,
                                                                        std::uint32_t capacity) {
    constexpr unsigned cache = 0;  // workers are no EAL threads: a per-lcore cache would never be used
    const auto room = static_cast<std::uint16_t>(capacity + RTE_PKTMBUF_HEADROOM);
    rte_mempool* pool = rte_pktmbuf_pool_create(name.c_str(), frames, cache, 0, room, SOCKET_ID_ANY);
    if (pool == nullptr) {
        return tl::unexpected("no memory for " + std::to_string(frames) + " packet buffers of " +
                              std::to_string(capacity) + " bytes (" + name + "): " + rte_strerror(rte_errno) +
                              "; raise dpdk/memory_mib");
    }
    return std::unique_ptr<FramePool>(new FramePool(pool));
}

FramePool::~FramePool() {
    rte_mempool_free(static_cast<rte_mempool*>(pool_));
}

std::size_t FramePool::allocate(std::span<FrameBuffer> out) {
    std::size_t count = 0;
    for (; count < out.size(); ++count) {
        rte_mbuf* mbuf = rte_pktmbuf_alloc(static_cast<rte_mempool*>(pool_));
        if (mbuf == nullptr) break;
        out[count] = frame_of(mbuf);
        out[count].length = 0;
    }
    return count;
}

std::uint32_t FramePool::available() const {
    return rte_mempool_avail_count(static_cast<rte_mempool*>(pool_));
}

void free_frame(FrameBuffer frame) {
    rte_pktmbuf_free(mbuf_of(frame));
}

void free_frames(std::span<const FrameBuffer> frames) {
    for (const FrameBuffer& frame : frames)
        free_frame(frame);
}

void retain_frame(FrameBuffer frame) {
    rte_mbuf_refcnt_update(mbuf_of(frame), 1);
}

bool frame_is_shared(FrameBuffer frame) {
    return rte_mbuf_refcnt_read(mbuf_of(frame)) > 1;
}

}  // namespace rocem::daemon
