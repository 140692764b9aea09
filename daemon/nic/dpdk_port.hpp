// Ports of DPDK devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "daemon/nic/packet_port.hpp"
#include "protocol/units.hpp"

namespace rocem::daemon {

struct AfPacketOptions {
    std::string interface;
    std::uint32_t frame_bytes = 8192;
    std::uint32_t block_bytes = 8192;
    std::uint32_t frame_count = 512;
};

// DPDK's net_af_packet on an existing interface; needs CAP_NET_RAW in its network namespace. Refuses an
// interface that is missing, down, or too small for packets of path_mtu: the driver would cut or lose them
// without a word. The message names the interface and both numbers. device: a name of its own for the DPDK
// device, such as "net_af_packet0".
tl::expected<std::unique_ptr<PacketPort>, std::string> make_af_packet_port(const std::string& device,
                                                                           const AfPacketOptions& options,
                                                                           protocol::PathMtu path_mtu,
                                                                           FramePool& pool);

// Two ports joined by net_ring inside this process, without a wake descriptor: for measurements.
tl::expected<std::pair<std::unique_ptr<PacketPort>, std::unique_ptr<PacketPort>>, std::string>
make_ring_port_pair(const std::string& name, FramePool& pool);

}  // namespace rocem::daemon
