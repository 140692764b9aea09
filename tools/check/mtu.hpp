// The path MTU of a connection, from its packets.
#pragma once

#include <optional>
#include <span>

#include "protocol/units.hpp"
#include "tools/check/sighting.hpp"

namespace rocem::tools {

// What most FIRST and MIDDLE packets carry; without such packets, what explains how many PSNs a READ took.
// Nothing if the frames do not tell.
std::optional<protocol::PathMtu> infer_mtu(std::span<const Sighting> frames);

// PSNs that a request takes (5.3).
std::uint32_t psns_of(const Sighting& request, std::uint32_t mtu);

}  // namespace rocem::tools
