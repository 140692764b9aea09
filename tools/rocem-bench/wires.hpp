// The wires that a bench uses.
#pragma once

#include <memory>
#include <utility>

#include "daemon/nic/packet_port.hpp"
#include "tools/rocem-bench/wire.hpp"

namespace rocem::tools {

// A port of the daemon with its buffers.
std::unique_ptr<BenchWire> make_port_wire(daemon::PacketPort& port, daemon::FramePool& pool);

// Two ends in plain memory, without DPDK: for counting instructions under valgrind.
std::pair<std::unique_ptr<BenchWire>, std::unique_ptr<BenchWire>> make_plain_wire();

}  // namespace rocem::tools
