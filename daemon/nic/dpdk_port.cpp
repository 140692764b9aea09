#include "daemon/nic/dpdk_port.hpp"

#include <dirent.h>
#include <linux/if_packet.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "config/mtu.hpp"
#include "daemon/nic/interface_facts.hpp"
#include "daemon/nic/mbuf.hpp"

namespace rocem::daemon {
namespace {

constexpr std::uint16_t queue_descriptors = 512;
constexpr std::size_t assumed_transmit_room = burst_frames_max;

// The packet sockets of this process. The driver keeps the one it receives on to itself; a worker that sleeps
// has to watch it.
std::set<int> packet_sockets() {
    std::set<int> found;
    DIR* directory = opendir("/proc/self/fd");
    if (directory == nullptr) return found;
    while (const dirent* entry = readdir(directory)) {
        const int fd = std::atoi(entry->d_name);
        int domain = 0;
        socklen_t size = sizeof domain;
        if (fd > 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_PACKET)
            found.insert(fd);
    }
    closedir(directory);
    return found;
}

// The two rings that join a pair of net_ring ports; the driver only borrows them.
struct RingLanes {
    static constexpr unsigned frames = 1024;
    static constexpr unsigned flags = RING_F_SP_ENQ | RING_F_SC_DEQ;

    explicit RingLanes(const std::string& name)
        : rings{rte_ring_create((name + "_ab").c_str(), frames, SOCKET_ID_ANY, flags),
                rte_ring_create((name + "_ba").c_str(), frames, SOCKET_ID_ANY, flags)} {}
    ~RingLanes() {
        for (rte_ring* ring : rings) {
            void* mbuf = nullptr;
            while (ring != nullptr && rte_ring_dequeue(ring, &mbuf) == 0)
                rte_pktmbuf_free(static_cast<rte_mbuf*>(mbuf));
            rte_ring_free(ring);
        }
    }
    RingLanes(const RingLanes&) = delete;
    RingLanes& operator=(const RingLanes&) = delete;

    bool complete() const { return rings[0] != nullptr && rings[1] != nullptr; }

    rte_ring* rings[2];
};

class DpdkPort final : public PacketPort {
 public:
    // packet_socket: -1 if the driver has none. lanes: what the device needs for as long as it lives, if so.
    DpdkPort(std::uint16_t port, std::string device, std::string description, int packet_socket,
             std::shared_ptr<RingLanes> lanes = nullptr)
        : lanes_(std::move(lanes)),
          port_(port),
          device_(std::move(device)),
          description_(std::move(description)),
          packet_socket_(packet_socket) {}

    ~DpdkPort() override {
        rte_eth_dev_stop(port_);
        rte_eth_dev_close(port_);
        rte_eal_hotplug_remove("vdev", device_.c_str());
    }

    tl::expected<void, std::string> start(FramePool& pool) {
        rte_eth_conf configuration{};
        const auto failed = [this](const char* step, int code) {
            return tl::unexpected(description_ + ": DPDK cannot " + step + ": " + rte_strerror(-code));
        };
        if (const int code = rte_eth_dev_configure(port_, 1, 1, &configuration); code < 0)
            return failed("configure it", code);
        auto* mempool = static_cast<rte_mempool*>(pool.dpdk_pool());
        if (const int code =
                rte_eth_rx_queue_setup(port_, 0, queue_descriptors, SOCKET_ID_ANY, nullptr, mempool);
            code < 0) {
            return failed("set up its receive queue", code);
        }
        if (const int code = rte_eth_tx_queue_setup(port_, 0, queue_descriptors, SOCKET_ID_ANY, nullptr);
            code < 0) {
            return failed("set up its transmit queue", code);
        }
        if (const int code = rte_eth_dev_start(port_); code < 0) return failed("start it", code);
        // The NIC's MAC address is not the kernel's.
        rte_eth_promiscuous_enable(port_);
        return {};
    }

    std::size_t receive(engine::Time, std::span<FrameBuffer> out) override {
        std::array<rte_mbuf*, burst_frames_max> burst;
        const auto wanted = static_cast<std::uint16_t>(std::min(out.size(), burst.size()));
        const std::uint16_t count = rte_eth_rx_burst(port_, 0, burst.data(), wanted);
        for (std::uint16_t i = 0; i < count; ++i)
            out[i] = frame_of(burst[i]);
        return count;
    }

    std::size_t transmit(engine::Time, std::span<const FrameBuffer> frames) override {
        std::array<rte_mbuf*, burst_frames_max> burst;
        const auto wanted = static_cast<std::uint16_t>(std::min(frames.size(), burst.size()));
        for (std::uint16_t i = 0; i < wanted; ++i)
            burst[i] = sized_mbuf(frames[i]);
        const std::uint16_t taken = rte_eth_tx_burst(port_, 0, burst.data(), wanted);
        if (taken < wanted) ++pushed_back_;
        return taken;
    }

    std::size_t transmit_room() const override { return assumed_transmit_room; }
    int wait_descriptor() const override { return packet_socket_; }
    std::string_view description() const override { return description_; }

    void append_counters(std::vector<PortCounter>& out) const override {
        rte_eth_stats stats{};
        rte_eth_stats_get(port_, &stats);
        out.push_back({"wire_rx_frames", stats.ipackets});
        out.push_back({"wire_tx_frames", stats.opackets});
        out.push_back({"wire_rx_missed", stats.imissed});
        out.push_back({"wire_rx_no_buffer", stats.rx_nombuf});
        out.push_back({"wire_tx_errors", stats.oerrors});
        out.push_back({"wire_pushed_back", pushed_back_});
        if (packet_socket_ >= 0) out.push_back({"wire_ring_dropped", ring_drops()});
    }

 private:
    // The kernel's count starts again with each look.
    std::uint64_t ring_drops() const {
        tpacket_stats stats{};
        socklen_t size = sizeof stats;
        if (getsockopt(packet_socket_, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
            ring_drops_ += stats.tp_drops;
        return ring_drops_;
    }

    std::shared_ptr<RingLanes> lanes_;
    std::uint16_t port_;
    std::string device_;
    std::string description_;
    int packet_socket_;  // the driver's
    std::uint64_t pushed_back_ = 0;
    mutable std::uint64_t ring_drops_ = 0;
};

tl::expected<void, std::string> check_interface(const AfPacketOptions& options, protocol::PathMtu path_mtu) {
    const auto facts = interface_facts(options.interface);
    if (!facts) return tl::unexpected(facts.error());
    const std::string interface = "interface " + options.interface + ": ";
    if (!facts->up)
        return tl::unexpected(interface + "it is down (ip link set " + options.interface + " up)");
    const std::string mtu = std::to_string(path_mtu.bytes());
    const std::uint32_t needed = config::required_interface_mtu(path_mtu);
    if (facts->mtu < needed) {
        return tl::unexpected(interface + "its MTU is " + std::to_string(facts->mtu) +
                              ", but a path MTU of " + mtu + " needs " + std::to_string(needed) +
                              "; frames would be lost without a word");
    }
    const std::uint32_t slot = config::largest_frame_bytes(path_mtu) + config::af_packet_slot_overhead_bytes;
    if (options.frame_bytes < slot) {
        return tl::unexpected(interface + "frame_bytes is " + std::to_string(options.frame_bytes) +
                              ", but a path MTU of " + mtu + " needs " + std::to_string(slot) +
                              "; frames would be cut without a word");
    }
    return {};
}

}  // namespace

tl::expected<std::unique_ptr<PacketPort>, std::string> make_af_packet_port(const std::string& device,
                                                                           const AfPacketOptions& options,
                                                                           protocol::PathMtu path_mtu,
                                                                           FramePool& pool) {
    if (const auto checked = check_interface(options, path_mtu); !checked)
        return tl::unexpected(checked.error());
    const std::string arguments = "iface=" + options.interface +
                                  ",framesz=" + std::to_string(options.frame_bytes) +
                                  ",blocksz=" + std::to_string(options.block_bytes) +
                                  ",framecnt=" + std::to_string(options.frame_count);
    const std::set<int> before = packet_sockets();
    std::uint16_t port = 0;
    if (rte_eal_hotplug_add("vdev", device.c_str(), arguments.c_str()) != 0 ||
        rte_eth_dev_get_port_by_name(device.c_str(), &port) != 0) {
        return tl::unexpected("af_packet on " + options.interface + " (" + arguments +
                              ") was refused; it needs CAP_NET_RAW in this network namespace");
    }
    int packet_socket = -1;
    for (const int fd : packet_sockets()) {
        if (!before.contains(fd)) packet_socket = fd;
    }
    auto created = std::make_unique<DpdkPort>(port, device, "af_packet " + options.interface, packet_socket);
    if (const auto started = created->start(pool); !started) return tl::unexpected(started.error());
    return created;
}

tl::expected<std::pair<std::unique_ptr<PacketPort>, std::unique_ptr<PacketPort>>, std::string>
make_ring_port_pair(const std::string& name, FramePool& pool) {
    auto lanes = std::make_shared<RingLanes>(name);
    if (!lanes->complete()) {
        return tl::unexpected("net_ring " + name + ": its rings were refused: " + rte_strerror(rte_errno));
    }
    std::unique_ptr<PacketPort> ends[2];
    for (unsigned side = 0; side < 2; ++side) {
        const std::string end_name = name + (side == 0 ? "_a" : "_b");
        const int port =
            rte_eth_from_rings(end_name.c_str(), &lanes->rings[1 - side], 1, &lanes->rings[side], 1, 0);
        if (port < 0)
            return tl::unexpected("net_ring " + end_name + " was refused: " + rte_strerror(rte_errno));
        auto created = std::make_unique<DpdkPort>(static_cast<std::uint16_t>(port), "net_ring_" + end_name,
                                                  "net_ring " + end_name, -1, lanes);
        if (const auto started = created->start(pool); !started) return tl::unexpected(started.error());
        ends[side] = std::move(created);
    }
    return std::pair{std::move(ends[0]), std::move(ends[1])};
}

}  // namespace rocem::daemon
