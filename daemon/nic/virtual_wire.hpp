// A wire in memory between two NICs of one daemon: real frames, no privilege. It never drops for lack of
// room; it pushes back.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "daemon/nic/packet_port.hpp"

namespace rocem::daemon {

// The two ends. They may belong to different workers; the wire lives until both are gone.
std::pair<std::unique_ptr<PacketPort>, std::unique_ptr<PacketPort>> make_virtual_wire(
    const std::string& name);

}  // namespace rocem::daemon
