// Every reason for which a frame is refused: symbol (also its counter's name) and sentence, declared once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rocem::protocol {

#define ROCEM_DROP_REASONS(X)                                                                        \
    /* parse_frame: the frame does not hold what its headers announce */                             \
    X(truncated_frame, "the frame ends inside its headers")                                          \
    X(bad_ip_version, "the IP version does not match the EtherType")                                 \
    X(ip_length_mismatch, "the IP length is longer than the frame or shorter than its headers")      \
    X(runt_transport, "fewer bytes than a base transport header and an ICRC")                        \
    X(unknown_opcode, "the opcode is reserved")                                                      \
    X(short_headers, "fewer bytes than the opcode's extended headers, the pad and the ICRC")         \
    X(not_roce, "neither RoCE nor anything the NIC answers")                                         \
    /* accept: what a packet must fulfil before a queue pair sees it */                              \
    X(destination_mac, "the destination MAC address is neither ours nor a joined group's")           \
    X(ipv4_header_checksum, "the IPv4 header checksum is wrong")                                     \
    X(ipv4_options, "the IPv4 header length is not 20 bytes")                                        \
    X(ip_fragment, "the packet is an IP fragment")                                                   \
    X(udp_length_mismatch, "the UDP length does not match the IP length")                            \
    X(udp_checksum, "the UDP checksum is neither zero nor right")                                    \
    X(transport_version, "the transport header version is not 0")                                    \
    X(pad_count, "a packet that does not end its message is padded, or the pad exceeds the payload") \
    X(payload_too_long, "the payload is longer than the largest path MTU")                           \
    X(zero_destination_qp, "the destination QP is 0")                                                \
    X(multicast_service, "a multicast destination QP on a connected service")                        \
    X(destination_gid, "the destination address is not in the GID table")                            \
    X(icrc_mismatch, "the ICRC is wrong")                                                            \
    /* the engine: checks against the queue pair */                                                  \
    X(unknown_qp, "no such queue pair")                                                              \
    X(wrong_service, "the opcode's service is not the queue pair's")                                 \
    X(qp_state, "the queue pair's state does not take this packet")                                  \
    X(source_address_mismatch, "the source address is not the connected peer's")                     \
    X(destination_address_mismatch, "the destination address is not the connection's own")           \
    X(p_key_mismatch, "the partition key does not match")                                            \
    X(out_of_sequence, "ahead of the expected PSN")                                                  \
    X(after_fatal_error, "behind a packet that ended the connection")                                \
    X(invalid_duplicate, "a duplicate that matches nothing executed")                                \
    X(duplicate_queue_full, "a duplicate READ or atomic with no room to answer it")                  \
    X(receiver_not_ready, "no receive was posted")                                                   \
    X(invalid_request, "a request that breaks the protocol")                                         \
    X(remote_access, "a request that its key does not allow")                                        \
    X(remote_operation, "a request that the responder could not carry out")                          \
    X(ghost_response, "a response to nothing outstanding")                                           \
    X(bad_response, "a response that does not fit its request")                                      \
    X(unsupported_operation, "an operation that the NIC does not offer")                             \
    X(backlog_full, "too many packets wait for client memory")

enum class DropReason : std::uint8_t {
#define ROCEM_DECLARE(symbol, sentence) symbol,
    ROCEM_DROP_REASONS(ROCEM_DECLARE)
#undef ROCEM_DECLARE
};

#define ROCEM_COUNT(symbol, sentence) +1
inline constexpr std::size_t drop_reason_count = 0 ROCEM_DROP_REASONS(ROCEM_COUNT);
#undef ROCEM_COUNT

std::string_view drop_reason_name(DropReason reason);
std::string_view drop_reason_sentence(DropReason reason);

}  // namespace rocem::protocol
