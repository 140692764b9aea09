// Between FrameBuffer and rte_mbuf. Frames are one segment each.
#pragma once

#include <rte_mbuf.h>

#include "daemon/nic/frame_buffer.hpp"

namespace rocem::daemon {

inline rte_mbuf* mbuf_of(FrameBuffer frame) {
    return static_cast<rte_mbuf*>(frame.handle);
}

inline FrameBuffer frame_of(rte_mbuf* mbuf) {
    FrameBuffer frame;
    frame.handle = mbuf;
    frame.data = rte_pktmbuf_mtod(mbuf, std::byte*);
    frame.length = rte_pktmbuf_data_len(mbuf);
    frame.capacity = static_cast<std::uint32_t>(mbuf->buf_len) - mbuf->data_off;
    return frame;
}

// The mbuf with the frame's length, ready for a driver.
inline rte_mbuf* sized_mbuf(FrameBuffer frame) {
    rte_mbuf* mbuf = mbuf_of(frame);
    mbuf->data_len = static_cast<std::uint16_t>(frame.length);
    mbuf->pkt_len = frame.length;
    return mbuf;
}

}  // namespace rocem::daemon
