// Queued work: what a work request becomes once its queue has taken it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/psn.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::engine {

// Scatter/gather entries beyond those that a WQE holds itself.
inline constexpr std::uint32_t sges_in_wqe = 2;
inline constexpr std::uint32_t sges_max = 64;
inline constexpr std::uint32_t inline_bytes_max = 1024;

using SgeBlock = std::array<Sge, sges_max - sges_in_wqe>;
using InlineBlock = std::array<std::byte, inline_bytes_max>;

struct SgeList {
    std::array<Sge, sges_in_wqe> own;
    std::uint32_t count = 0;
    std::uint32_t block = no_node;  // SgeBlock with entries sges_in_wqe and on
};

// PSNs that one READ request asks for. A longer READ goes out as several requests, one after the other,
// divided at multiples of it whatever is asked for again.
inline constexpr std::uint32_t read_request_psns_max = 1u << 21;

struct SendWqe {
    std::uint64_t wr_id = 0;
    std::uint32_t wqe_index = 0;
    std::uint32_t next = no_node;
    WrOpcode opcode = WrOpcode::send;
    bool signaled = false;
    bool solicited = false;
    bool fence = false;
    bool started = false;    // has PSNs
    bool acked = false;      // every packet acknowledged; READ and atomic: every response received
    bool in_flight = false;  // READ, atomic: counted in Requester::reads_in_flight
    WcStatus error =
        WcStatus::success;  // found wrong locally: completes so when its turn comes, nothing is sent
    std::uint32_t immediate = 0;
    std::uint64_t remote_addr = 0;
    protocol::RKey r_key;
    std::uint64_t compare_add = 0;
    std::uint64_t swap = 0;
    std::uint64_t length = 0;            // payload bytes of the message
    protocol::Psn first_psn;             // valid once started
    std::uint32_t packets = 1;           // PSNs the message takes
    std::uint32_t responded = 0;         // READ: responses received, in order; [0, packets]
    std::uint32_t dma_pending = 0;       // response bytes on their way to client memory
    std::uint32_t resumed_at = no_node;  // READ: the gap that was asked for again and has not closed since
    std::uint32_t inline_block = no_node;
    SgeList sges;

    bool is_read() const { return opcode == WrOpcode::rdma_read; }
    bool is_atomic() const { return opcode == WrOpcode::compare_swap || opcode == WrOpcode::fetch_add; }
    bool awaits_response() const { return is_read() || is_atomic(); }
    protocol::Psn end_psn() const { return first_psn.plus(packets); }  // one past the last
};

struct RecvWqe {
    std::uint64_t wr_id = 0;
    std::uint64_t length = 0;  // capacity, bytes
    std::uint32_t wqe_index = 0;
    std::uint32_t next = no_node;
    SgeList sges;
};

}  // namespace rocem::engine
