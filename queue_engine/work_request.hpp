// What is asked of a queue pair (SendWr, RecvWr) and what it answers (WorkCompletion).
// Numbers equal libibverbs' (enum ibv_wc_status, ibv_wc_opcode), so that no table stands between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"
#include "queue_engine/handles.hpp"

namespace rocem::engine {

enum class WrOpcode : std::uint8_t {
    rdma_write = 0,
    rdma_write_with_immediate = 1,
    send = 2,
    send_with_immediate = 3,
    rdma_read = 4,
    compare_swap = 5,
    fetch_add = 6,
};

struct Sge {
    std::uint64_t addr = 0;    // virtual address inside the MR
    std::uint32_t length = 0;  // bytes
    protocol::LKey l_key;
};

// One request for the send queue. The spans are read during post_send only.
struct SendWr {
    std::uint64_t wr_id = 0;
    std::uint32_t wqe_index = 0;  // the caller's slot, echoed in the completion
    WrOpcode opcode = WrOpcode::send;
    bool signaled = false;
    bool solicited = false;
    bool fence = false;
    bool inline_data = false;       // the payload is inline_bytes; sges is not looked at
    std::uint32_t immediate = 0;    // *_with_immediate; the number that ImmDt carries
    std::uint64_t remote_addr = 0;  // RDMA and atomics
    protocol::RKey r_key;           // RDMA and atomics
    std::uint64_t compare_add = 0;  // compare_swap: compared; fetch_add: added
    std::uint64_t swap = 0;         // compare_swap: stored on a match
    std::span<const Sge> sges;
    std::span<const std::byte> inline_bytes;
};

struct RecvWr {
    std::uint64_t wr_id = 0;
    std::uint32_t wqe_index = 0;
    std::span<const Sge> sges;
};

enum class WcStatus : std::uint8_t {
    success = 0,
    local_length_error = 1,
    local_qp_operation_error = 2,
    local_protection_error = 4,
    flush_error = 5,
    bad_response_error = 7,
    local_access_error = 8,
    remote_invalid_request_error = 9,
    remote_access_error = 10,
    remote_operation_error = 11,
    retry_exceeded_error = 12,
    rnr_retry_exceeded_error = 13,
    fatal_error = 19,
    general_error = 21,
};

enum class WcOpcode : std::uint8_t {
    send = 0,
    rdma_write = 1,
    rdma_read = 2,
    compare_swap = 3,
    fetch_add = 4,
    receive = 128,
    receive_rdma_with_immediate = 129,
};

struct WorkCompletion {
    std::uint64_t wr_id = 0;
    CqHandle cq;
    QpHandle qp;
    protocol::Qpn qp_num;
    std::uint32_t wqe_index = 0;
    std::uint32_t byte_len = 0;   // receives and READ/atomic results
    std::uint32_t immediate = 0;  // valid with with_immediate
    WcStatus status = WcStatus::success;
    WcOpcode opcode = WcOpcode::send;
    bool with_immediate = false;
    // Wakes an arm for solicited completions only: SE was set on the message, or status is an error
    // (rocev2 5.8.12).
    bool solicited = false;
};

}  // namespace rocem::engine
