// One NIC: its queue pairs, completion queues and memory, without I/O.
//
// Packets, work requests, DMA answers and the time go in (post_*, handle_*); frames, DMA operations,
// completions, events and the next deadline come out (poll_*, observers). The engine calls nobody, allocates
// nothing per packet and has no clock. It is driven by one thread at a time.
//
// A turn of its owner:
//   handle_packet for each received packet; poll_dma -> move bytes -> handle_dma; handle_timeout; post_send,
//   post_recv; poll_transmit while there is a buffer and room; poll_dma -> handle_dma again; poll_frame: send
//   or drop those frames; poll_completion; poll_event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "protocol/drop_reason.hpp"
#include "protocol/packet.hpp"
#include "queue_engine/counters.hpp"
#include "queue_engine/dma.hpp"
#include "queue_engine/errors.hpp"
#include "queue_engine/events.hpp"
#include "queue_engine/handles.hpp"
#include "queue_engine/qp_attributes.hpp"
#include "queue_engine/settings.hpp"
#include "queue_engine/time.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::engine {

// 256 bits that every random choice (keys, QPNs, PSNs) is drawn from: getrandom(2) in the daemon, a number in
// tests.
using Seed = std::array<std::uint8_t, 32>;

struct MrSpec {
    std::uint64_t va = 0;                         // address of the first byte, as the client names it
    std::uint64_t length = 0;                     // bytes
    std::uint32_t access = 0;                     // AccessFlags; remote write or atomic demand local write
    std::uint64_t region = 0;                     // the owner's name for the bytes, echoed in DMA operations
    std::optional<protocol::RKey> requested_key;  // replay and tests; random otherwise (lkey = rkey)
};

struct MrInfo {
    MrHandle handle;
    protocol::LKey l_key;
    protocol::RKey r_key;
};

struct QpInfo {
    QpHandle handle;
    protocol::Qpn qpn;
};

// What became of a packet.
enum class PacketOutcome : std::uint8_t {
    accepted,
    dropped,        // PacketResult::reason says why; counted
    needs_receive,  // nothing changed: post receives to PacketResult::qp if there are any, then hand the
                    // packet in again with MissingReceive::rnr_nak (decision 9: a receive that was posted is
                    // seen)
};

struct PacketResult {
    PacketOutcome outcome = PacketOutcome::accepted;
    protocol::DropReason reason{};
    QpHandle qp;  // needs_receive
};

enum class MissingReceive : std::uint8_t { ask, rnr_nak };

// A frame whose headers stand in the caller's buffer. Its payload may still be on the way.
struct TxFrame {
    TxFrameId id = 0;
    std::uint32_t length = 0;     // whole frame, with room for the ICRC, which is not computed yet
    std::uint16_t l3_offset = 0;  // for protocol::seal_icrc, once the verdict is send
};

enum class FrameAction : std::uint8_t { send, discard };

struct FrameVerdict {
    TxFrameId id = 0;
    FrameAction action = FrameAction::send;
};

// A queue that was full, or that has run low, and has room again: the owner may post more.
struct WantedWork {
    QpHandle qp;
    bool send = false;
    bool receive = false;
};

class Engine {
 public:
    Engine(const EngineSettings& settings, const Seed& seed);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // --- observers ---
    const EngineSettings& settings() const;
    const Counters& counters() const;
    Time next_deadline() const;     // nothing expires before it; never if no timer runs
    bool transmit_pending() const;  // poll_transmit would find something at some near time
    Expected<QpAttributes> query_qp(QpHandle qp) const;
    Expected<QpInit> query_qp_init(QpHandle qp) const;
    std::optional<QpInfo> find_qp(protocol::Qpn qpn) const;
    // Free places in the queue, in any state (whether the state allows a post is the post's own check); 0 for
    // a dead handle.
    std::uint32_t send_room(QpHandle qp) const;
    std::uint32_t receive_room(QpHandle qp) const;
    // A destroyed or deregistered object exists until its last DMA operation is answered (decision 7).
    bool exists(QpHandle qp) const;
    bool exists(MrHandle mr) const;
    std::uint32_t qp_count() const;
    std::uint32_t mr_count() const;
    std::uint32_t cq_count() const;
    std::uint32_t pd_count() const;

    // --- commands ---
    Expected<PdHandle> create_pd();
    Error destroy_pd(PdHandle pd);  // busy while MRs or QPs use it
    Expected<MrInfo> register_mr(PdHandle pd, const MrSpec& spec);
    Error deregister_mr(MrHandle mr);  // its keys stop working at once; see exists
    Expected<CqHandle> create_cq(std::uint32_t capacity);
    Error destroy_cq(CqHandle cq);  // busy while QPs use it
    Expected<QpInfo> create_qp(const QpInit& init);
    Error modify_qp(Time now, QpHandle qp, const QpAttributes& attributes, std::uint32_t mask);
    Error destroy_qp(QpHandle qp);  // silent at once; its unpolled completions are dropped; see exists
    protocol::Psn random_psn();

    // A known peer has moved to another MAC address (neighbour change).
    void update_destination_mac(const protocol::Gid& dgid, const protocol::MacAddress& dmac);

    Error post_send(Time now, QpHandle qp, const SendWr& wr);
    Error post_recv(QpHandle qp, const RecvWr& wr);

    // --- input ---
    // The packet passed protocol::accept. Its bytes stay valid until every DMA operation with this token is
    // answered.
    PacketResult handle_packet(Time now, const protocol::Packet& packet, RxToken token,
                               MissingReceive missing);
    void handle_dma(Time now, std::span<const DmaAnswer> answers);
    void handle_timeout(Time now);
    // The owner's ring of this CQ was full when a completion was due: the CQ is dead, its QPs go to ERR.
    void handle_cq_overflow(Time now, CqHandle cq);

    // --- output ---
    // The next frame, written into buffer (which must hold active_mtu + protocol's largest headers), or
    // nothing.
    std::optional<TxFrame> poll_transmit(Time now, std::span<std::byte> buffer);
    // Frames leave in the order of their verdicts. A frame's ack timer starts with its verdict.
    bool poll_frame(Time now, FrameVerdict& verdict);
    bool poll_dma(DmaOp& op);
    bool poll_completion(WorkCompletion& completion);
    bool poll_event(AsyncEvent& event);
    bool poll_wanted(WantedWork& wanted);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rocem::engine
