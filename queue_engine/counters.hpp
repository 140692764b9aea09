// Counters of one NIC, with the names that dashboards of hardware NICs know (device.md 2.1), declared once.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/drop_reason.hpp"

namespace rocem::engine {

// symbol, what it counts
#define ROCEM_ENGINE_COUNTERS(X)                                                           \
    X(rdma_tx_packets, "RoCE packets sent")                                                \
    X(rdma_tx_bytes, "bytes of those frames, Ethernet header to ICRC")                     \
    X(rdma_rx_packets, "RoCE packets accepted")                                            \
    X(rdma_rx_bytes, "bytes of those frames, Ethernet header to ICRC")                     \
    X(rx_write_requests, "WRITE requests executed")                                        \
    X(rx_read_requests, "READ requests executed")                                          \
    X(rx_atomic_requests, "atomic requests executed")                                      \
    X(out_of_buffer, "requests that found no receive posted (RNR NAK sent)")               \
    X(out_of_sequence, "request packets that arrived ahead of the expected PSN")           \
    X(duplicate_request, "request packets already executed")                               \
    X(rnr_nak_retry_err, "RNR NAKs received, retry limit not exceeded")                    \
    X(packet_seq_err, "sequence NAKs received, retry limit not exceeded")                  \
    X(implied_nak_seq_err, "responses ahead of an awaited READ or atomic response")        \
    X(local_ack_timeout_err, "ack timeouts, retry limit not exceeded")                     \
    X(retransmission_rounds, "times the send queue went back to an earlier PSN")           \
    X(retransmitted_packets, "request packets sent again")                                 \
    X(resp_local_length_error, "receives completed with a local length error")             \
    X(resp_cqe_error, "receive completions with an error")                                 \
    X(req_cqe_error, "send completions with an error")                                     \
    X(resp_cqe_flush_error, "receive completions flushed")                                 \
    X(req_cqe_flush_error, "send completions flushed")                                     \
    X(req_remote_invalid_request, "invalid-request NAKs received")                         \
    X(req_remote_access_errors, "remote-access NAKs received")                             \
    X(req_remote_operation_errors, "remote-operational NAKs received")                     \
    X(resp_remote_access_errors, "remote-access NAKs sent")                                \
    X(resp_invalid_request_errors, "invalid-request NAKs sent")                            \
    X(resp_remote_operation_errors, "remote-operational NAKs sent")                        \
    X(req_transport_retries_exceeded, "send requests that ended with retry_cnt exhausted") \
    X(req_rnr_retries_exceeded, "send requests that ended with rnr_retry exhausted")       \
    X(seq_naks_sent, "sequence NAKs sent")                                                 \
    X(acks_sent, "positive ACKs sent")                                                     \
    X(cq_overflows, "completion queues that died of overflow")                             \
    X(dma_faults, "DMA operations that could not reach client memory")

struct Counters {
#define ROCEM_DECLARE(symbol, sentence) std::uint64_t symbol = 0;
    ROCEM_ENGINE_COUNTERS(ROCEM_DECLARE)
#undef ROCEM_DECLARE
    std::array<std::uint64_t, protocol::drop_reason_count> drops{};  // indexed by DropReason
};

}  // namespace rocem::engine
