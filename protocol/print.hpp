// One line for any packet, in the spec's words. Not for the data path: these allocate.
#pragma once

#include <string>

#include "protocol/packet.hpp"

namespace rocem::protocol {

// "10.0.0.1 > 10.0.0.2 RC RDMA_WRITE_FIRST qp 0x11 psn 0xfffffe va 0x7f00 rkey 0x1234 len 2500 payload 1024".
// Flags that are set follow the PSN: A (AckReq), SE, M (MigReq), FECN, BECN. What differs from the usual is
// named.
std::string print(const Packet& packet);
// The transport part alone: "RC ACKNOWLEDGE qp 0x12 psn 0x5 ACK credits unlimited msn 3".
std::string print(const RocePacket& roce);
// "ACK credits 4", "RNR NAK timer 0.64 ms", "NAK remote access error".
std::string print_syndrome(std::uint8_t syndrome);

}  // namespace rocem::protocol
