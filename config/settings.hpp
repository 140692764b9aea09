// What a configuration says, checked: a DaemonSettings that parse_settings() returned cannot be wrong in
// itself (whether an interface exists, or is big enough, only the daemon can see). Each field stands under
// the same name in the JSON, unless its comment says otherwise; the value here is the default. Ranges are
// in rocem.schema.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/ids.hpp"
#include "protocol/units.hpp"

namespace rocem::config {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, off };

// The UNIX socket where clients and tools attach. "socket": {"path", "mode", "group"}.
struct SocketSettings {
    std::string path;           // absolute; empty: default_socket_path()
    std::uint32_t mode = 0660;  // octal string in the JSON, "0660"
    std::string group;          // empty: the daemon's own
};

// How a worker without work waits: it spins, then yields the CPU, then sleeps until a doorbell or a port
// wakes it.
struct IdleSettings {
    std::uint32_t spin_us = 20;
    std::uint32_t yield_us = 200;
    bool block = true;                  // false: yields for ever and never sleeps
    std::uint32_t max_sleep_us = 1000;  // longest sleep while a port has no descriptor to wait for
};

// A thread that drives whole NICs.
struct WorkerSettings {
    std::string name = "worker0";
    std::optional<std::uint32_t> cpu;  // pinned to this CPU; none: the kernel chooses
    IdleSettings idle;
};

struct DpdkSettings {
    std::uint32_t memory_mib = 256;  // packet buffers of all NICs together; no huge pages
};

// What every NIC reports and grants (ibv_query_device(3)), and what one attached client may hold.
struct LimitSettings {
    std::uint32_t max_qp = 16384;
    std::uint32_t max_qp_wr = 32768;
    std::uint32_t max_sge = 32;
    std::uint32_t max_inline_data = 512;  // bytes
    std::uint32_t max_cq = 16384;
    std::uint32_t max_cqe = 4194303;
    std::uint32_t max_mr = 65536;
    std::uint32_t max_pd = 4096;
    std::uint8_t max_qp_rd_atom = 16;
    std::uint64_t max_msg_bytes = std::uint64_t{1} << 31;  // max_msg_sz
    std::uint32_t sessions_max = 256;
    std::uint64_t session_memory_bytes_max = std::uint64_t{8} << 30;  // shared memory of one session
    std::uint32_t session_segments_max = 4096;                        // separate pieces of it
};

// One end of a wire in memory; the NIC at the other end names the same wire.
struct VirtualWirePort {
    std::string wire;
};

// DPDK's net_af_packet on an interface that exists. Each frame takes a slot of frame_bytes in a ring of
// frame_count slots; a block is a whole number of slots.
struct AfPacketPort {
    std::string interface;
    std::uint32_t frame_bytes = 8192;
    std::uint32_t block_bytes = 8192;
    std::uint32_t frame_count = 512;
};

using PortSettings = std::variant<VirtualWirePort, AfPacketPort>;  // "port": {"type", …}

// What may happen to each frame of one direction; independent probabilities, from 0 to 1.
struct DirectionFaults {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    std::uint32_t reorder_frames = 3;  // a reordered frame is overtaken by this many
    double corrupt = 0;
    std::uint32_t delay_us = 0;
    std::uint32_t jitter_us = 0;  // added to the delay, uniform from 0 to this

    friend bool operator==(const DirectionFaults&, const DirectionFaults&) = default;
};

struct FaultSettings {
    std::optional<std::uint64_t> seed;  // none: a random one, which the log names
    DirectionFaults receive;            // wire to engine
    DirectionFaults transmit;           // engine to wire

    // Whether anything at all can happen to a frame.
    bool active() const { return receive != DirectionFaults{} || transmit != DirectionFaults{}; }
};

// pcap files that are written while the daemon runs; empty: none.
struct CaptureSettings {
    std::string wire;    // outside the faults: what crosses the wire
    std::string engine;  // inside the faults: what the engine sends and sees
};

struct InterfaceAddress {
    protocol::Gid gid;               // an IPv4 address as ::ffff:a.b.c.d
    std::uint8_t prefix_length = 0;  // of the address's own family: 1..32 or 1..128
};

struct NicSettings {
    std::string name;
    protocol::MacAddress mac;
    std::vector<InterfaceAddress> addresses;  // "10.1.0.1/24", "fd00::1/64"; at least one
    std::optional<protocol::Gid> gateway_v4;  // for destinations outside the prefixes above
    std::optional<protocol::Gid> gateway_v6;
    protocol::PathMtu mtu;       // active_mtu: the largest path MTU; 1024
    bool gid_link_local = true;  // see gid_table()
    bool gid_ipv4_first = false;
    std::uint64_t node_guid = 0;  // "0200:00ff:fe00:0001"; made from the MAC (EUI-64) when left out
    std::string worker;           // one of DaemonSettings::workers; the first one when left out
    bool mig_req = true;
    bool ignore_udp_checksum = false;
    std::uint32_t window_packets = 128;      // unacknowledged request packets per QP
    std::uint32_t ack_request_packets = 64;  // AckReq at least every so many; never more than the window
    std::uint32_t vendor_part_id = 1;
    PortSettings port;
    FaultSettings faults;
    CaptureSettings captures;
};

struct DaemonSettings {
    SocketSettings socket;
    LogLevel log_level = LogLevel::info;
    bool counters_page = true;
    std::optional<std::uint64_t> seed;  // none: random numbers come from the kernel
    std::vector<WorkerSettings> workers = {WorkerSettings{}};
    DpdkSettings dpdk;
    LimitSettings limits;
    std::vector<NicSettings> nics;
};

// Where the daemon listens and clients look when nobody says otherwise: in XDG_RUNTIME_DIR if that is set
// and not empty, else below /run.
std::string default_socket_path(const char* xdg_runtime_dir);

}  // namespace rocem::config
