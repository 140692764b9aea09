// Traces made packet by packet: one connection, each line of a test a frame.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "protocol/frame_template.hpp"
#include "protocol/opcode.hpp"
#include "protocol/packet.hpp"
#include "tools/check/options.hpp"
#include "tools/check/report.hpp"

namespace rocem::test {

enum class Outer : std::uint8_t { ipv4, ipv6, roce_v1 };

// QPNs: requester 0x11, responder 0x22. A frame a microsecond, if wait is not called.
class MadeTrace {
 public:
    explicit MadeTrace(Outer outer = Outer::ipv4);

    // SEND or WRITE packets of the MTU 256: FIRST, MIDDLE and the last one with 100 bytes.
    void send(protocol::Opcode opcode, std::uint32_t psn);
    void read(std::uint32_t psn, std::uint32_t length, std::uint64_t va = 0x1000);
    void atomic(protocol::Opcode opcode, std::uint32_t psn);
    void ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = 0x1f);
    void response(protocol::Opcode opcode, std::uint32_t psn, std::uint32_t msn, std::size_t bytes);
    void atomic_ack(std::uint32_t psn, std::uint32_t msn, std::uint64_t original);
    // The packets have the XRC service from here on.
    void use_xrc() { xrc_ = true; }
    void wait(std::chrono::nanoseconds time) { now_ += time; }
    // The last frame once more, bit for bit.
    void copy_last();

    tools::Report check(const tools::CheckOptions& options = {}) const;

 private:
    struct Frame {
        std::chrono::nanoseconds time{};
        std::vector<std::byte> bytes;
    };
    void add(bool request, protocol::Opcode opcode, protocol::RocePacket packet, std::size_t payload_bytes);

    protocol::FrameTemplate to_responder_;
    protocol::FrameTemplate to_requester_;
    bool xrc_ = false;
    std::chrono::nanoseconds now_{};
    std::uint16_t identification_ = 0;
    std::vector<Frame> frames_;
};

}  // namespace rocem::test
