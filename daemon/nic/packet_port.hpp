// The seam between a NIC and its wire. Decorators (capture, faults, hairpin) are ports around ports.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/nic/frame_buffer.hpp"
#include "queue_engine/time.hpp"

namespace rocem::daemon {

inline constexpr std::size_t burst_frames_max = 32;

struct PortCounter {
    std::string_view name;
    std::uint64_t value = 0;
};

// Driven by the worker that owns the NIC.
class PacketPort {
 public:
    virtual ~PacketPort() = default;

    // Frames that have arrived, at most out.size(); they are the caller's. Fewer than that: the port is
    // drained.
    virtual std::size_t receive(engine::Time now, std::span<FrameBuffer> out) = 0;

    // Takes the first n frames and returns n; the others stay the caller's (push back, nothing is lost).
    virtual std::size_t transmit(engine::Time now, std::span<const FrameBuffer> frames) = 0;

    // Frames that transmit is sure to take now: nobody builds more (decision 10).
    virtual std::size_t transmit_room() const = 0;

    // When the port wants to be looked at though nothing arrived (a delayed frame is due); engine::never if
    // not.
    virtual engine::Time next_deadline() const { return engine::never; }

    // To be watched for input (edge or level); -1: none, the worker sleeps for a bounded time only.
    virtual int wait_descriptor() const = 0;

    // The worker is about to block. False: something is waiting, look again instead. After waking: end_sleep.
    virtual bool begin_sleep() { return true; }
    virtual void end_sleep() {}

    // Appends what this port and those inside it count.
    virtual void append_counters(std::vector<PortCounter>& out) const = 0;

    // "virtual wire \"w0\"", "af_packet eth0".
    virtual std::string_view description() const = 0;
};

}  // namespace rocem::daemon
