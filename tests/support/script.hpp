// One NIC and a peer that is no engine: packets made by hand go in, what the NIC says comes out.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/lines.hpp"
#include "tests/support/node.hpp"
#include "tests/support/story.hpp"

namespace rocem::test {

struct ScriptOptions : StoryOptions {
    engine::QpState state = engine::QpState::rts;  // that the NIC's QP is brought to
};

class Script {
 public:
    explicit Script(const ScriptOptions& options = {});
    ~Script();
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    static constexpr std::uint32_t peer_qpn = 0x123;
    Node nic;

    // --- what the peer says; PSNs relative to the first of that direction ---
    RocePacket request(Op opcode, std::int32_t psn, std::size_t payload = 0) const;
    // WRITE FIRST or ONLY, READ request, atomics: with the address of the buffer's byte at `offset`
    RocePacket request(Op opcode, std::int32_t psn, std::size_t payload, const Buffer& target,
                       std::uint32_t dma_length, std::uint64_t offset = 0) const;
    RocePacket response(Op opcode, std::int32_t psn, std::size_t payload = 0) const;
    RocePacket ack(std::int32_t psn, std::uint32_t msn, std::uint8_t syndrome = syndrome_ack) const;
    // Lets the packet arrive, and the NIC do what it will do without time passing by more than its turns.
    void hear(const RocePacket& packet);
    void hear_frame(std::vector<std::byte> frame);
    std::vector<std::byte> frame_of(const RocePacket& packet) const;

    // --- what the NIC says ---
    std::string says();                 // lines since the last call
    std::vector<RocePacket> packets();  // since the last call

    // --- the NIC's user and time ---
    void post(SendRequest request);
    void post(ReceiveRequest request);
    engine::Error modify(engine::QpState state, std::uint32_t extra_mask = 0);
    engine::QpAttributes attributes() const;
    engine::Time now() const { return now_; }
    void settle();
    void run_for(engine::Duration duration);
    // Past as many of the engine's deadlines as it takes to say something: it may be woken early.
    // False if no timer runs.
    bool run_to_deadline();

 private:
    bool turn();

    ScriptOptions options_;
    engine::Time now_ = Story::start;
    std::vector<RocePacket> said_;
    Catch::ScopedMessage told_;
};

}  // namespace rocem::test
