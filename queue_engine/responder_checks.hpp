// The responder's checks that look at nothing but a packet and the place where it falls
// (rocev2 5.8.3, 5.8.7, 5.3).
#pragma once

#include <cstdint>

#include "protocol/packet.hpp"
#include "queue_engine/qp.hpp"

namespace rocem::engine {

// FIRST and ONLY may not interrupt a message, MIDDLE and LAST must continue one of their kind.
bool continues_message(IncomingMessage incoming, const protocol::OpcodeInfo& info);

// What an RC responder executes. SEND with invalidate, FLUSH and ATOMIC WRITE are not offered.
bool is_supported(const protocol::OpcodeInfo& info);

// The QP's own access flags allow the operation.
bool access_is_enabled(std::uint32_t access_flags, const protocol::OpcodeInfo& info);

// The payload has the length that its place in the message demands, and RETH promises nothing impossible.
bool payload_fits(const protocol::RocePacket& roce, std::uint32_t mtu, std::uint64_t message_bytes_max);

// PSNs that a request takes: a READ as many as its answer has packets.
std::uint32_t psns_of_request(const protocol::RocePacket& roce, std::uint32_t mtu);

inline bool is_read_or_atomic(const protocol::OpcodeInfo& info) {
    return info.operation == protocol::Operation::rdma_read_request ||
           info.operation == protocol::Operation::compare_swap ||
           info.operation == protocol::Operation::fetch_add;
}

}  // namespace rocem::engine
