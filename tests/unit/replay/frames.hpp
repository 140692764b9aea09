// Captures made by hand, and captured answers that somebody changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/roce_frame.hpp"
#include "tools/rocem-replay/replay.hpp"

namespace rocem::test {

inline constexpr std::uint32_t requester_qpn = 0x54;
inline constexpr std::uint32_t responder_qpn = 0x52;

Address requester_address();  // 10.0.0.1
Address responder_address();  // 10.0.0.2

// Puts a capture together, a frame a millisecond.
class CaptureBuilder {
 public:
    CaptureBuilder& request(RocePacket packet);  // to responder_qpn unless the packet says otherwise
    CaptureBuilder& answer(RocePacket packet);   // to requester_qpn unless the packet says otherwise
    CaptureBuilder& frame(std::vector<std::byte> bytes, std::size_t kept_bytes = 0);

    tools::Capture build();

 private:
    struct Kept {
        std::vector<std::byte> bytes;
        std::size_t original_bytes = 0;
    };
    std::vector<Kept> frames_;
};

RocePacket send_only(std::uint32_t psn, std::size_t payload = 8);
RocePacket write_only(std::uint32_t psn, std::uint64_t va, std::vector<std::byte> payload);
RocePacket read_request(std::uint32_t psn, std::uint64_t va, std::uint32_t length);
RocePacket ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = syndrome_ack);

inline constexpr std::uint32_t test_r_key = 0x1234;

enum class Alteration : std::uint8_t { psn, syndrome, msn, payload };

// Whether an answer has this part.
bool has_part(const tools::ReplayFrame& frame, Alteration alteration);
// The same frame with that part changed and a right ICRC.
std::vector<std::byte> altered(const tools::ReplayFrame& frame, Alteration alteration);

tools::Capture copy_of(const tools::Capture& capture);
// A copy of a capture with other bytes in frame `index`, or without it.
tools::Capture with_frame(const tools::Capture& capture, std::size_t index, std::vector<std::byte> bytes);
tools::Capture without_frame(const tools::Capture& capture, std::size_t index);

}  // namespace rocem::test
