// What a NIC is called on the wire, made from its settings.
#pragma once

#include <cstdint>
#include <vector>

#include "config/settings.hpp"
#include "protocol/ids.hpp"

namespace rocem::config {

// EUI-64 of the MAC: ff:fe in the middle, the universal/local bit turned (RFC 4291, appendix A).
std::uint64_t eui64(const protocol::MacAddress& mac);

// fe80::/64 with the EUI-64 of the MAC.
protocol::Gid link_local_gid(const protocol::MacAddress& mac);

// The GID table in the order of its indices: the link-local GID if gid_link_local, then the addresses as
// they stand in the settings; with gid_ipv4_first the IPv4 addresses before all others, each group in
// that order. Nothing stands twice.
std::vector<protocol::Gid> gid_table(const NicSettings& nic);

}  // namespace rocem::config
