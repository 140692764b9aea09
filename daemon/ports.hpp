// The ports that a configuration asks for, each with its decorators (decisions 16 and 17).
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/settings.hpp"
#include "daemon/clock.hpp"
#include "daemon/nic/frame_buffer.hpp"
#include "daemon/nic/packet_port.hpp"

namespace rocem::daemon {

struct NicPort {
    std::unique_ptr<FramePool> pool;  // outlives the port, and the peer's port on the same wire
    std::unique_ptr<PacketPort> port;
};

// One for each NIC, in their order. The error names the NIC.
tl::expected<std::vector<NicPort>, std::string> make_ports(const config::DaemonSettings& settings,
                                                           const Clock& clock, spdlog::logger& log);

}  // namespace rocem::daemon
