// Queue pair states, attributes and masks, numbered as libibverbs numbers them (ibv_modify_qp(3)).
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/ids.hpp"
#include "protocol/psn.hpp"
#include "protocol/units.hpp"
#include "queue_engine/handles.hpp"

namespace rocem::engine {

enum class QpState : std::uint8_t { reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, sqe = 5, error = 6 };

enum class QpType : std::uint8_t { rc = 2 };  // enum ibv_qp_type; UC 3, UD 4, XRC 9 and 10 follow

enum QpAttrMask : std::uint32_t {
    attr_state = 1u << 0,
    attr_cur_state = 1u << 1,
    attr_en_sqd_async_notify = 1u << 2,
    attr_access_flags = 1u << 3,
    attr_pkey_index = 1u << 4,
    attr_port = 1u << 5,
    attr_qkey = 1u << 6,
    attr_av = 1u << 7,
    attr_path_mtu = 1u << 8,
    attr_timeout = 1u << 9,
    attr_retry_cnt = 1u << 10,
    attr_rnr_retry = 1u << 11,
    attr_rq_psn = 1u << 12,
    attr_max_rd_atomic = 1u << 13,
    attr_alt_path = 1u << 14,
    attr_min_rnr_timer = 1u << 15,
    attr_sq_psn = 1u << 16,
    attr_max_dest_rd_atomic = 1u << 17,
    attr_path_mig_state = 1u << 18,
    attr_cap = 1u << 19,
    attr_dest_qpn = 1u << 20,
    attr_rate_limit = 1u << 25,
};

// enum ibv_access_flags
enum AccessFlags : std::uint32_t {
    access_local_write = 1u << 0,
    access_remote_write = 1u << 1,
    access_remote_read = 1u << 2,
    access_remote_atomic = 1u << 3,
};

struct AddressVector {
    protocol::Gid dgid;
    protocol::MacAddress dmac;     // the next hop's, resolved by the owner before the command (decision 11)
    std::uint32_t flow_label = 0;  // 20 bits; 0: derived from the QPNs
    std::uint8_t sgid_index = 0;
    std::uint8_t hop_limit = 0;  // 0: 64
    std::uint8_t traffic_class = 0;
    std::uint8_t sl = 0;
    bool is_global = true;  // a RoCE address vector without GRH is refused
};

struct QpCapabilities {
    std::uint32_t max_send_wr = 1;
    std::uint32_t max_recv_wr = 1;
    std::uint32_t max_send_sge = 1;
    std::uint32_t max_recv_sge = 1;
    std::uint32_t max_inline_data = 0;  // bytes
};

struct QpInit {
    QpType type = QpType::rc;
    PdHandle pd;
    CqHandle send_cq;
    CqHandle recv_cq;
    QpCapabilities cap;
    bool sq_sig_all = false;
    std::uint64_t owner = 0;                     // the caller's name for the QP, echoed by observers
    std::optional<protocol::Qpn> requested_qpn;  // replay and tests; random otherwise
};

struct QpAttributes {
    QpState state = QpState::reset;
    QpState cur_state = QpState::reset;
    bool en_sqd_async_notify = false;
    bool sq_draining = false;        // query only
    std::uint32_t access_flags = 0;  // AccessFlags
    std::uint16_t pkey_index = 0;
    std::uint8_t port_num = 1;
    AddressVector av;
    protocol::PathMtu path_mtu;
    std::uint8_t timeout = 0;        // 4.096 us << timeout; 0 = never, 0..31
    std::uint8_t retry_cnt = 0;      // 0..7
    std::uint8_t rnr_retry = 0;      // 0..7, 7 = for ever
    std::uint8_t min_rnr_timer = 0;  // code, 0..31
    std::uint8_t max_rd_atomic = 0;
    std::uint8_t max_dest_rd_atomic = 0;
    protocol::Psn rq_psn;
    protocol::Psn sq_psn;
    protocol::Qpn dest_qpn;
};

}  // namespace rocem::engine
