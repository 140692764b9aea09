// What a story may choose, and the NIC and QP that follow from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/support/node.hpp"
#include "tests/support/wire.hpp"

namespace rocem::test {

using namespace std::chrono_literals;

inline constexpr engine::Duration turn_time = 100ns;

struct StoryOptions {
    DmaMode dma = {};               // of both sides
    std::uint32_t mtu = 1024;       // path MTU, and active MTU of both NICs
    std::uint32_t first_psn = 100;  // of A's requests
    std::uint32_t first_psn_b = 0x4000;
    unsigned connections = 1;
    engine::Duration latency = 1us;  // one way
    std::uint64_t seed = 1;

    std::uint8_t timeout = 14;  // 67.1 ms
    std::uint8_t retry_cnt = 7;
    std::uint8_t rnr_retry = 7;
    std::uint8_t min_rnr_timer = 12;  // 0.64 ms
    std::uint8_t max_rd_atomic = 16;
    std::uint8_t max_dest_rd_atomic = 16;
    std::uint32_t access =
        engine::access_remote_write | engine::access_remote_read | engine::access_remote_atomic;
    engine::QpCapabilities cap{256, 256, 8, 8, 512};
    bool sq_sig_all = false;

    std::uint32_t window_packets = 128;
    std::uint32_t ack_request_packets = 64;
    std::uint32_t tx_frames_max = 1024;
    std::uint32_t dma_ops_max = 8192;
    std::uint32_t queued_wqes_max = 256;
    std::uint32_t cq_capacity = 65536;
    bool mig_req = true;
    bool lazy_receives = false;
};

NodeSettings node_settings(const StoryOptions& options, Side side);

// All attributes of an RC QP whose peer is there; PSNs are left at 0.
engine::QpAttributes attributes_of(const StoryOptions& options, const Address& peer, protocol::Qpn peer_qpn);

// One line that says which variant of a story is told.
std::string telling(const StoryOptions& options);

// The states' mask bits that rocev2.md 5.10 requires, for an RC QP.
std::uint32_t required_mask(engine::QpState target);

}  // namespace rocem::test
