// What a bench's engines send through: buffers, and a way to the other side.
#pragma once

#include <cstddef>
#include <span>

#include "daemon/nic/frame_buffer.hpp"

namespace rocem::tools {

class BenchWire {
 public:
    virtual ~BenchWire() = default;
    // Fills as many as there are buffers and room for; returns how many.
    virtual std::size_t allocate(std::span<daemon::FrameBuffer> out) = 0;
    virtual void release(daemon::FrameBuffer frame) = 0;
    // Takes all: allocate gave no more than there is room for.
    virtual void send(std::span<const daemon::FrameBuffer> frames) = 0;
    virtual std::size_t receive(std::span<daemon::FrameBuffer> out) = 0;
};

}  // namespace rocem::tools
