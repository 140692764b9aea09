// One packet as the rules need it: without its bytes, so that a long trace fits.
#pragma once

#include <chrono>
#include <cstdint>

#include "protocol/packet.hpp"

namespace rocem::tools {

struct Sighting {
    std::chrono::nanoseconds time{};
    std::uint64_t number = 0;  // of the frame
    std::uint64_t order = 0;   // in the trace
    const protocol::OpcodeInfo* info = nullptr;
    protocol::Psn psn;
    bool ack_request = false;
    bool intact = false;  // the receiver may take it: ICRC, checksum and version are right
    std::uint32_t payload_bytes = 0;
    protocol::Reth reth;
    protocol::AtomicEth atomic;
    protocol::Aeth aeth;
    std::uint64_t original = 0;     // AtomicAckETH
    std::uint32_t fingerprint = 0;  // the ICRC, which covers the IP identification: equal for copies only
    std::uint16_t source_port = 0;

    static Sighting of(const protocol::Packet& packet, std::chrono::nanoseconds time, std::uint64_t number,
                       std::uint64_t order);
};

}  // namespace rocem::tools
