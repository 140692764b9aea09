// What a NIC is told when it is made. Later changes go through Engine's commands.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.hpp"
#include "protocol/units.hpp"

namespace rocem::engine {

// Exact limits, advertised as they are (ibv_query_device(3)).
struct DeviceLimits {
    std::uint32_t max_qp = 16384;
    std::uint32_t max_qp_wr = 32768;
    std::uint32_t max_sge = 32;
    std::uint32_t max_inline_data = 512;  // bytes
    std::uint32_t max_cq = 16384;
    std::uint32_t max_cqe = 4194303;
    std::uint32_t max_mr = 65536;
    std::uint32_t max_pd = 4096;
    std::uint8_t max_qp_rd_atom = 16;
    std::uint64_t max_msg_sz = std::uint64_t{1} << 31;   // bytes
    std::uint64_t max_mr_size = std::uint64_t{1} << 47;  // bytes
};

struct EngineSettings {
    DeviceLimits limits;
    protocol::MacAddress mac;
    std::vector<protocol::Gid> gid_table;  // RoCE v2; an all-zero GID is an empty entry
    std::vector<protocol::PKey> pkey_table = {protocol::PKey(0xffff)};
    protocol::PathMtu active_mtu;            // path_mtu above it is refused
    std::uint32_t window_packets = 128;      // unacknowledged request packets per QP
    std::uint32_t ack_request_packets = 64;  // AckReq at least every so many packets inside a message
    std::uint32_t tx_frames_max = 1024;      // frames under construction at once
    std::uint32_t dma_ops_max = 8192;        // unanswered DMA operations at once
    std::uint32_t queued_wqes_max = 256;     // send (and receive) WQEs that a QP takes ahead of need
    bool mig_req = true;                     // BTH.MigReq of everything sent
};

}  // namespace rocem::engine
