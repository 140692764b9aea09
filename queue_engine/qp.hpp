// A queue pair: attributes, send queue, requester, responder and receive queue. Queued work lives in the
// engine's pools; an idle QP holds nothing there.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/frame_template.hpp"
#include "protocol/ids.hpp"
#include "protocol/psn.hpp"
#include "queue_engine/handles.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/qp_attributes.hpp"
#include "queue_engine/time.hpp"
#include "queue_engine/tx_frames.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::engine {

// The send queue's nodes: [head, cursor) sent at least once, cursor being sent, the rest waiting.
struct SendQueue {
    std::uint32_t head = no_node;
    std::uint32_t tail = no_node;
    std::uint32_t cursor = no_node;   // the WQE whose packet goes out next
    std::uint32_t cursor_packet = 0;  // that packet's number in its message, [0, packets)
    std::uint32_t count = 0;
};

struct Requester {
    protocol::Psn oldest_unacked_psn;     // == never_sent_psn: nothing outstanding
    protocol::Psn never_sent_psn;         // one past the highest PSN whose request ever left
    protocol::Psn left_psn;               // the same, since the last go-back
    protocol::Psn next_psn;               // first PSN of the next WQE to start
    std::uint32_t in_flight = 0;          // request packets sent since the last go-back and not acknowledged
    std::uint32_t reads_in_flight = 0;    // READ and atomic messages among them
    std::uint32_t since_ack_request = 0;  // packets since AckReq was last set
    std::uint8_t retries_left = 0;
    std::uint8_t rnr_retries_left = 0;
    Time ack_deadline = never;
    Time rnr_until = never;   // waiting after an RNR NAK
    std::uint32_t epoch = 0;  // request frames of an earlier one are not sent
    bool stopped = false;     // a request has failed: no frame from stop_psn on leaves
    protocol::Psn stop_psn;
    FrameQueue frames;
};

// What is being received: a message whose LAST has not come.
enum class IncomingMessage : std::uint8_t { none, send, write };

// A packet received and not committed (decision 2): its place in the order of answers.
struct ReceivedPacket {
    enum class Kind : std::uint8_t { data, read, atomic, sequence_nak, rnr_nak, fatal_nak };

    Kind kind = Kind::data;
    bool faulty = false;  // its DMA failed
    bool ends_message = false;
    bool ack_request = false;
    bool completes_receive = false;
    bool with_immediate = false;
    bool solicited = false;
    bool into_receive = false;                    // data: goes to a receive's memory, not to a remote key's
    std::uint8_t syndrome = 0;                    // naks
    WcStatus receive_status = WcStatus::success;  // fatal_nak: what the receive in use completes with
    protocol::Psn psn;
    std::uint32_t psn_count = 1;
    std::uint32_t dma_pending = 0;
    std::uint32_t receive = no_node;  // completes_receive
    std::uint32_t byte_len = 0;
    std::uint32_t immediate = 0;
    std::uint32_t history = 0;  // read, atomic: entry in Responder::history
    std::uint32_t next = no_node;
};

// A READ or atomic that was executed, for duplicates of it.
struct ReadAtomicRecord {
    bool valid = false;
    bool is_atomic = false;
    bool swaps = false;      // atomic: CMP_SWAP
    bool committed = false;  // carried out: may be repeated for a duplicate
    protocol::Psn psn;
    std::uint32_t psn_count = 1;
    protocol::RKey r_key;
    std::uint64_t va = 0;
    std::uint32_t length = 0;    // READ
    std::uint64_t original = 0;  // atomic: the value before
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
};

// An answer waiting to leave, in PSN order but for duplicates.
struct Response {
    enum class Kind : std::uint8_t { ack, nak, read, atomic };

    Kind kind = Kind::ack;
    bool fatal = false;  // the last thing that this QP says
    bool first = true;   // read: the next response opens the answer
    std::uint8_t syndrome = 0;
    protocol::Psn psn;  // of the next response
    protocol::Msn msn;
    protocol::RKey r_key;
    std::uint64_t va = 0;    // read: of the next response's bytes
    std::uint32_t left = 0;  // read: bytes still to answer
    std::uint64_t original = 0;
    std::uint32_t record =
        no_node;  // read, atomic: history entry that is answered when the last response leaves
    std::uint32_t next = no_node;
};

struct Responder {
    protocol::Psn expected_psn;   // received up to here, exclusive
    protocol::Psn committed_psn;  // committed up to here, exclusive
    protocol::Msn msn;
    bool silent = false;       // a NAK went out: nothing more until expected_psn arrives
    bool closed = false;       // a fatal NAK is on its way: later packets are not looked at
    bool established = false;  // a packet arrived in RTR
    IncomingMessage incoming = IncomingMessage::none;
    std::uint32_t receive = no_node;   // taken by the SEND that is being received
    std::uint64_t received_bytes = 0;  // of the incoming message
    protocol::RKey r_key;              // of the incoming WRITE
    std::uint64_t va = 0;
    std::uint32_t dma_length = 0;
    std::uint32_t packets_head = no_node;  // ReceivedPacket, oldest first
    std::uint32_t packets_tail = no_node;
    std::uint32_t packets = 0;
    std::uint32_t responses_head = no_node;  // Response
    std::uint32_t responses_tail = no_node;
    std::uint32_t responses = 0;
    std::uint32_t reads_in_progress = 0;  // READ and atomic requests received and not answered to the end
    // max_qp_rd_atom entries, reused round: at least those of the max_dest_rd_atomic requests under way.
    std::vector<ReadAtomicRecord> history;
    std::uint32_t history_next = 0;
    std::uint32_t epoch = 0;  // response frames of an earlier one are not sent
    FrameQueue frames;
};

struct ReceiveQueue {
    std::uint32_t head = no_node;
    std::uint32_t tail = no_node;
    std::uint32_t count = 0;
};

struct Qp {
    QpHandle handle;
    protocol::Qpn qpn;
    QpInit init;
    QpAttributes attributes;
    bool destroyed = false;      // waits for its last DMA operation
    bool drain_pending = false;  // SQD: SQ_DRAINED is due
    bool send_wanted = false;  // a post was refused, or the queue has run low, since the owner was last told
    bool receive_wanted = false;
    bool wanted_queued = false;
    bool throttled = false;         // off the scheduler's list until one of its operations ends
    bool turn_of_responses = true;  // responses and requests alternate while both wait
    std::uint32_t dma_pending = 0;
    std::uint32_t frames_pending = 0;  // built, no verdict yet
    std::uint32_t life = 0;  // counts resets and errors: answers and completions of an earlier life are void
    std::uint32_t completion_life = 0;  // counts resets: completions of an earlier one are dropped

    protocol::Gid local_gid;
    protocol::FrameTemplate path;

    SendQueue send_queue;
    Requester requester;
    ReceiveQueue receive_queue;
    Responder responder;

    Time timer_at = never;  // when the wheel wakes this QP; at or before the deadlines of requester

    // Links of the scheduler's list.
    bool scheduled = false;
    std::uint32_t burst_left = 0;
    std::uint32_t next_scheduled = no_node;

    std::uint32_t mtu() const { return attributes.path_mtu.bytes(); }
    QpState state() const { return attributes.state; }
};

}  // namespace rocem::engine
