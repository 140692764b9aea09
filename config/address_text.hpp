// Addresses as they stand in a configuration; protocol/ids.hpp has the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "protocol/ids.hpp"

namespace rocem::config {

// "10.1.0.1" (as ::ffff:10.1.0.1) or "fd00::1". The mapped form is refused as text: one way to write each.
std::optional<protocol::Gid> parse_ip(const std::string& text);

// "10.1.0.1/24" or "fd00::1/64"; a prefix length of 0 or beyond the family's bits is refused.
std::optional<InterfaceAddress> parse_interface_address(const std::string& text);

// "0200:00ff:fe00:0001".
std::optional<std::uint64_t> parse_guid(const std::string& text);

// The other way round: "10.1.0.1" or "fd00::1".
std::string ip_text(const protocol::Gid& gid);

// Whether `other` is in the network of `address`.
bool in_prefix(const InterfaceAddress& address, const protocol::Gid& other);

}  // namespace rocem::config
