// A NIC that talks to itself: frames for its own MAC turn round inside it, through the same decorators as all
// others.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/nic/packet_port.hpp"
#include "protocol/ids.hpp"

namespace rocem::daemon {

std::unique_ptr<PacketPort> make_hairpin_port(std::unique_ptr<PacketPort> inner,
                                              const protocol::MacAddress& mac);

}  // namespace rocem::daemon
