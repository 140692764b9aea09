#include "daemon/ports.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/mtu.hpp"
#include "daemon/nic/capture_port.hpp"
#include "daemon/nic/dpdk_port.hpp"
#include "daemon/nic/fault_port.hpp"
#include "daemon/nic/hairpin_port.hpp"
#include "daemon/nic/virtual_wire.hpp"

namespace rocem::daemon {
namespace {

using Failure = tl::unexpected<std::string>;
using Port = tl::expected<std::unique_ptr<PacketPort>, std::string>;

// Buffers of one NIC: what the engine builds, what waits for DMA, what fills a wire, what faults delay.
constexpr std::uint64_t frames_max = 2048;

std::uint32_t frame_bytes(const config::NicSettings& nic) {
    const std::uint32_t largest = config::largest_frame_bytes(nic.mtu);
    const auto* af_packet = std::get_if<config::AfPacketPort>(&nic.port);
    // The driver copies a whole ring slot's frame into one buffer.
    return af_packet == nullptr ? largest : std::max(largest, af_packet->frame_bytes);
}

// Three quarters of DPDK's memory, in equal parts: drivers and pool heads need the rest.
std::uint32_t frame_count(const config::DaemonSettings& settings, const config::NicSettings& nic) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    constexpr std::uint64_t overhead_bytes = 512;  // rte_mbuf, headroom, alignment
    const std::uint64_t share = settings.dpdk.memory_mib * mebibyte * 3 / 4 / settings.nics.size();
    return static_cast<std::uint32_t>(std::min(frames_max, share / (frame_bytes(nic) + overhead_bytes)));
}

std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    [[maybe_unused]] const auto got = ::getrandom(&seed, sizeof(seed), 0);
    return seed;
}

class PortMaker {
 public:
    PortMaker(const Clock& clock, spdlog::logger& log) : clock_(clock), log_(log) {}

    Port make(std::size_t index, const config::NicSettings& nic, FramePool& pool) {
        Port port = device(index, nic, pool);
        if (!port) return port;
        // A NIC that talks to itself is captured and disturbed like any other.
        port = make_hairpin_port(std::move(*port), nic.mac);
        port = capture(std::move(*port), nic.captures.wire);
        if (!port) return port;
        port = faults(std::move(*port), nic, pool);
        return capture(std::move(*port), nic.captures.engine);
    }

 private:
    Port device(std::size_t index, const config::NicSettings& nic, FramePool& pool) {
        if (const auto* wire = std::get_if<config::VirtualWirePort>(&nic.port)) return wire_end(wire->wire);
        const auto& options = std::get<config::AfPacketPort>(nic.port);
        return make_af_packet_port(fmt::format("net_af_packet{}", index),
                                   {.interface = options.interface,
                                    .frame_bytes = options.frame_bytes,
                                    .block_bytes = options.block_bytes,
                                    .frame_count = options.frame_count},
                                   nic.mtu, pool);
    }

    // The first NIC that names a wire makes it, the second one takes the other end.
    Port wire_end(const std::string& name) {
        if (const auto waiting = other_ends_.find(name); waiting != other_ends_.end()) {
            std::unique_ptr<PacketPort> end = std::move(waiting->second);
            other_ends_.erase(waiting);
            return end;
        }
        auto [here, there] = make_virtual_wire(name);
        other_ends_.emplace(name, std::move(there));
        return std::move(here);
    }

    Port capture(std::unique_ptr<PacketPort> port, const std::string& path) {
        if (path.empty()) return port;
        return make_capture_port(std::move(port), path,
                                 std::chrono::nanoseconds(clock_.wall_clock_offset_ns()));
    }

    std::unique_ptr<PacketPort> faults(std::unique_ptr<PacketPort> port, const config::NicSettings& nic,
                                       FramePool& pool) {
        if (!nic.faults.active()) return port;
        const std::uint64_t seed = nic.faults.seed ? *nic.faults.seed : random_seed();
        log_.info("{}: faults with seed {}", nic.name, seed);
        return make_fault_port(std::move(port), nic.faults, seed, pool);
    }

    const Clock& clock_;
    spdlog::logger& log_;
    std::map<std::string, std::unique_ptr<PacketPort>> other_ends_;
};

}  // namespace

tl::expected<std::vector<NicPort>, std::string> make_ports(const config::DaemonSettings& settings,
                                                           const Clock& clock, spdlog::logger& log) {
    PortMaker maker(clock, log);
    std::vector<NicPort> ports;
    for (std::size_t i = 0; i < settings.nics.size(); ++i) {
        const config::NicSettings& nic = settings.nics[i];
        auto pool =
            FramePool::create(fmt::format("frames{}", i), frame_count(settings, nic), frame_bytes(nic));
        if (!pool) return Failure(fmt::format("{}: {}", nic.name, pool.error()));
        auto port = maker.make(i, nic, **pool);
        if (!port) return Failure(fmt::format("{}: {}", nic.name, port.error()));
        ports.push_back({.pool = std::move(*pool), .port = std::move(*port)});
    }
    return ports;
}

}  // namespace rocem::daemon
