// Faults on a wire, ordered: loss, duplication, reorder, corruption and delay, each direction by itself.
//
// Which fault meets the n-th RoCE frame of a direction depends on the seed and n alone: all random numbers of
// a frame are drawn whatever the settings say. Frames that are not RoCE v2 (ARP, NDP, ping) pass unharmed.
// Nothing is lost for lack of room.
#pragma once

#include <cstdint>
#include <memory>

#include "config/settings.hpp"
#include "daemon/nic/packet_port.hpp"

namespace rocem::daemon {

// What happens to one frame.
struct FaultDecision {
    bool lost = false;
    bool duplicated = false;
    bool corrupted = false;
    std::uint32_t overtaken_by = 0;  // frames that pass it; 0: it keeps its place
    std::uint64_t corrupt_bit = 0;   // modulo the frame's RoCE bits
    engine::Duration delay{0};
};

// direction: 0 receive, 1 transmit.
FaultDecision decide_fault(std::uint64_t seed, unsigned direction, std::uint64_t frame,
                           const config::DirectionFaults& faults);

// pool: where copies come from.
std::unique_ptr<PacketPort> make_fault_port(std::unique_ptr<PacketPort> inner,
                                            const config::FaultSettings& faults, std::uint64_t seed,
                                            FramePool& pool);

}  // namespace rocem::daemon
