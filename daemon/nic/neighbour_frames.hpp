// Whole frames of ARP, NDP and echo replies.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/arp.hpp"
#include "protocol/ids.hpp"
#include "protocol/ndp.hpp"
#include "protocol/packet.hpp"

namespace rocem::daemon {

std::vector<std::byte> arp_frame(const protocol::MacAddress& source, const protocol::MacAddress& destination,
                                 const protocol::Arp& arp);

// Hop limit 255, checksum right (RFC 4861 4.3, 4.4).
std::vector<std::byte> ndp_frame(const protocol::MacAddress& source_mac,
                                 const protocol::MacAddress& destination_mac,
                                 const protocol::Ipv6Address& source,
                                 const protocol::Ipv6Address& destination, const protocol::Ndp& ndp);

// The answer to an echo request: the same identifier, sequence and data.
std::vector<std::byte> echo_reply_v4(const protocol::MacAddress& source, const protocol::Packet& request);
std::vector<std::byte> echo_reply_v6(const protocol::MacAddress& source, const protocol::Packet& request);

}  // namespace rocem::daemon
