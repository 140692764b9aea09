// What passes a port, written to a pcap file with nanoseconds. The worker only copies into a bounded buffer;
// a thread writes. A disk that is too slow costs captured frames, which are counted, and never the wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "daemon/nic/packet_port.hpp"

namespace rocem::daemon {

// wall_clock_offset: what to add to an engine::Time to get the time since 1970. The file is made anew,
// readable by its owner only; it is complete when the port is gone.
tl::expected<std::unique_ptr<PacketPort>, std::string> make_capture_port(
    std::unique_ptr<PacketPort> inner, const std::string& path, std::chrono::nanoseconds wall_clock_offset);

}  // namespace rocem::daemon
