// The engine's state and its parts. Each group of functions below is one source file.
#pragma once

#include <algorithm>

#include "protocol/syndrome.hpp"
#include "queue_engine/completions.hpp"
#include "queue_engine/dma_table.hpp"
#include "queue_engine/engine.hpp"
#include "queue_engine/id_map.hpp"
#include "queue_engine/memory.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/qp.hpp"
#include "queue_engine/random.hpp"
#include "queue_engine/ring_buffer.hpp"
#include "queue_engine/slot_table.hpp"
#include "queue_engine/timer_wheel.hpp"
#include "queue_engine/tx_frames.hpp"
#include "queue_engine/wqe.hpp"

namespace rocem::engine {

// Stretches of client memory, in order.
struct Pieces {
    struct Piece {
        Translation at;
        std::uint32_t length;
    };
    std::array<Piece, sges_max> items;
    std::uint32_t count = 0;
};

struct BuiltFrame {
    TxFrame frame;
    std::byte* payload = nullptr;
};

class Engine::Impl {
 public:
    Impl(const EngineSettings& engine_settings, const Seed& seed);

    // --- commands.cpp ---
    Expected<CqHandle> create_cq(std::uint32_t capacity);
    Error destroy_cq(CqHandle cq);
    Expected<QpInfo> create_qp(const QpInit& init);
    Error destroy_qp(QpHandle handle);
    Expected<protocol::Qpn> choose_qpn(const QpInit& init);
    void erase_if_quiet(Qp& qp);

    // --- modify.cpp ---
    Error modify_qp(Time now, QpHandle handle, const QpAttributes& wanted, std::uint32_t mask);
    bool values_are_legal(const Qp& qp, const QpAttributes& wanted, std::uint32_t mask) const;
    void copy_attributes(Qp& qp, const QpAttributes& wanted, std::uint32_t mask);
    void build_path(Qp& qp);
    void enter_state(Time now, Qp& qp, QpState from, QpState to, std::uint32_t mask);
    void reset_qp(Qp& qp);
    void drain_if_done(Qp& qp);

    // --- posting.cpp ---
    Error post_send(Time now, QpHandle handle, const SendWr& wr);
    Error post_recv(QpHandle handle, const RecvWr& wr);
    bool sges_fit(std::span<const Sge> sges) const;
    void fill_sges(SgeList& list, std::span<const Sge> sges);
    void release_sges(SgeList& list);
    const Sge& sge(const SgeList& list, std::uint32_t index) const;
    std::uint32_t send_capacity(const Qp& qp) const;
    std::uint32_t receive_capacity(const Qp& qp) const;
    void want(Qp& qp, bool send);

    // --- completion.cpp ---
    void complete(Qp& qp, WorkCompletion completion, bool receive);
    void complete_send(Qp& qp, const SendWqe& wqe, WcStatus status);
    void complete_receive(Qp& qp, const RecvWqe& wqe, WcStatus status, std::uint32_t byte_len);
    bool poll_completion(WorkCompletion& completion);
    void handle_cq_overflow(CqHandle handle);
    void raise(EventType type, const Qp& qp);
    // The QP's work ends: every queued request completes flushed, the oldest send with cause if it is an
    // error. The oldest receive completes with receive_cause.
    void to_error(Qp& qp, WcStatus send_cause = WcStatus::flush_error,
                  WcStatus receive_cause = WcStatus::flush_error);
    void release_send_head(Qp& qp);
    void release_receive(std::uint32_t node);
    std::uint32_t take_receive(Qp& qp);
    void clear_responder(Qp& qp, bool keep_responses);

    // --- schedule.cpp ---
    void schedule(Qp& qp);
    std::optional<TxFrame> poll_transmit(Time now, std::span<std::byte> buffer);
    bool poll_frame(Time now, FrameVerdict& verdict);
    void operation_ended(Qp& qp);
    void request_left(Time now, Qp& qp, const PendingFrame& frame);
    void arm_timer(Time now, Qp& qp);
    void update_timer(Qp& qp);
    void handle_timeout(Time now);
    bool has_response(const Qp& qp) const { return qp.responder.responses_head != no_node; }

    // --- requester.cpp ---
    bool request_sendable(Time now, const Qp& qp) const;
    std::optional<TxFrame> next_request(Time now, Qp& qp, std::span<std::byte> buffer);
    bool wqe_blocked(const Qp& qp, const SendWqe& wqe) const;
    bool local_access_is_granted(const Qp& qp, const SendWqe& wqe) const;
    protocol::RocePacket request_packet(Qp& qp, const SendWqe& wqe, std::uint32_t number, std::uint32_t psns);
    void account_sent(Qp& qp, SendWqe& wqe, std::uint32_t psns, bool ack_request);

    // --- frame_builder.cpp ---
    // Writes all headers, the pad and room for the ICRC; the payload's place is left to DMA. Queues the
    // frame, not yet released.
    BuiltFrame build_frame(Qp& qp, protocol::RocePacket& roce, std::size_t payload_bytes,
                           std::span<std::byte> buffer, PendingFrame pending);
    TxFrame release_frame(Qp& qp, const BuiltFrame& built, FrameRole role);
    // Bytes [offset, offset + length) of a scatter/gather list; false if a key does not allow the access.
    bool gather(const Qp& qp, const SgeList& list, std::uint64_t offset, std::uint64_t length,
                std::uint32_t access, Pieces& pieces) const;
    void read_pieces(Qp& qp, const Pieces& pieces, TxFrameId frame, std::byte* to);
    // Returns how many operations were started.
    std::uint32_t write_pieces(Qp& qp, const Pieces& pieces, std::span<const std::byte> from, RxToken token,
                               bool last, DmaPurpose purpose, std::uint32_t reference);
    // The same for eight bytes that stand in no frame.
    std::uint32_t write_value(Qp& qp, const Pieces& pieces, std::uint64_t value, RxToken token,
                              std::uint32_t wqe);
    void start_dma(Qp& qp, DmaOp op, const Translation& at, PendingDma pending);
    // Whether a packet of this QP finds room for all its pieces.
    bool dma_room(const Qp& qp) const {
        const QpCapabilities& cap = qp.init.cap;
        return dma.available() >= std::max({1u, cap.max_send_sge, cap.max_recv_sge});
    }
    // A QP may hold as much of the engine's pools as is left for the others: client memory that never answers
    // stalls its own QP only.
    bool within_share(const Qp& qp) const {
        return qp.dma_pending <= dma.available() && qp.frames_pending <= frames.available();
    }
    bool backlog_room(const Qp& qp) const {
        return qp.dma_pending <= dma.available() && qp.responder.packets < received_packets.available();
    }

    // --- completer.cpp ---
    PacketResult handle_response(Time now, Qp& qp, const protocol::RocePacket& roce, RxToken token);
    PacketResult handle_acknowledge(Time now, Qp& qp, const protocol::RocePacket& roce);
    void handle_rnr_nak(Time now, Qp& qp, protocol::Psn psn, std::uint8_t timer_code);
    void handle_nak(Time now, Qp& qp, protocol::Psn psn, protocol::NakCode code);
    PacketResult handle_read_response(Time now, Qp& qp, const protocol::RocePacket& roce, RxToken token);
    PacketResult handle_atomic_response(Time now, Qp& qp, const protocol::RocePacket& roce, RxToken token);
    bool read_response_fits(const Qp& qp, const SendWqe& wqe, std::uint32_t number,
                            const protocol::RocePacket& roce) const;
    void response_received(Time now, Qp& qp, SendWqe& wqe, protocol::Psn psn);
    // Everything before psn has arrived. False: a READ or atomic among it has no answer yet (implied NAK); it
    // was asked for again.
    bool acknowledge_before(Time now, Qp& qp, protocol::Psn psn);

    // --- send_queue.cpp ---
    std::uint32_t find_wqe(const Qp& qp, protocol::Psn psn) const;
    // Marks [oldest_unacked_psn, psn) acknowledged; the node of a READ or atomic that lacks answers stops it,
    // else no_node.
    std::uint32_t mark_acknowledged(Qp& qp, protocol::Psn psn);
    void pull_cursor_forward(Qp& qp);
    void go_back_to(Qp& qp, protocol::Psn psn);
    void count_in_flight(Qp& qp);
    void retire_done(Time now, Qp& qp);

    // --- retry.cpp ---
    void forward_progress(Time now, Qp& qp);
    // Uses up one of retry_cnt; false: there was none left, and the oldest request failed.
    bool spend_retry(Time now, Qp& qp);
    void ack_timeout(Time now, Qp& qp);
    void resume_at_gap(Time now, Qp& qp, std::uint32_t node);
    // Nothing of this request goes out any more; it completes with this status when all before it is done.
    void fail_wqe(Time now, Qp& qp, std::uint32_t node, WcStatus status);

    // --- responder.cpp ---
    PacketResult handle_request(Qp& qp, const protocol::RocePacket& roce, RxToken token,
                                MissingReceive missing);
    PacketResult handle_expected(Qp& qp, const protocol::RocePacket& roce, RxToken token,
                                 MissingReceive missing);
    PacketResult ahead_of_sequence(Qp& qp);
    PacketResult receiver_not_ready(Qp& qp, protocol::Psn psn);
    PacketResult refuse(Qp& qp, protocol::Psn psn, protocol::NakCode code,
                        WcStatus receive_status = WcStatus::flush_error);

    void queue_fatal_nak(Qp& qp, protocol::Psn psn, protocol::NakCode code, WcStatus receive_status);

    // --- responder_execute.cpp ---
    PacketResult place_and_execute(Qp& qp, const protocol::RocePacket& roce, RxToken token);
    PacketResult place_send(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces);
    PacketResult place_write(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces);
    PacketResult place_read_or_atomic(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces);
    bool translate_remote(const Qp& qp, protocol::RKey key, std::uint64_t va, std::uint64_t length,
                          std::uint32_t access, Pieces& pieces) const;
    void execute_data(Qp& qp, const protocol::RocePacket& roce, RxToken token, const Pieces& pieces,
                      ReceivedPacket& packet);
    void execute_read_or_atomic(Qp& qp, const protocol::RocePacket& roce, RxToken token, const Pieces& pieces,
                                ReceivedPacket& packet);

    // --- duplicates.cpp ---
    PacketResult handle_duplicate(Qp& qp, const protocol::RocePacket& roce);
    PacketResult repeat_read(Qp& qp, const protocol::RocePacket& roce);
    PacketResult repeat_atomic(Qp& qp, const protocol::RocePacket& roce);
    bool answer_is_under_way(const Qp& qp, std::uint32_t record, protocol::Psn psn) const;

    // --- commit.cpp ---
    std::uint32_t append_received(Qp& qp, const ReceivedPacket& packet);
    void commit_ready(Qp& qp);
    void commit(Qp& qp, const ReceivedPacket& packet);
    void end_fatally(Qp& qp, protocol::Psn psn, std::uint8_t syndrome, WcStatus receive_status);
    void handle_dma(Time now, std::span<const DmaAnswer> answers);
    void answer_frame(Time now, Qp& qp, TxFrameId id, bool ok);
    void answer_request(Qp& qp, std::uint32_t node, const DmaAnswer& answer);
    void answer_response(Time now, Qp& qp, std::uint32_t node, bool ok);

    // --- responses.cpp ---
    bool response_room(const Qp& qp) const;
    void push_ack(Qp& qp);
    void push_nak(Qp& qp, protocol::Psn psn, std::uint8_t syndrome);
    void push_response(Qp& qp, const Response& response);
    void pop_response(Qp& qp);
    std::optional<TxFrame> next_response(Qp& qp, std::span<std::byte> buffer);
    std::optional<TxFrame> next_read_response(Qp& qp, Response& response, std::span<std::byte> buffer);
    void count_acknowledge(std::uint8_t syndrome);

    // --- engine.cpp ---
    PacketResult handle_packet(Time now, const protocol::Packet& packet, RxToken token,
                               MissingReceive missing);

    PacketResult drop(protocol::DropReason reason) {
        ++counters.drops[static_cast<std::size_t>(reason)];
        return {PacketOutcome::dropped, reason, {}};
    }

    EngineSettings settings;
    Counters counters;
    Random random;
    Memory memory;
    SlotTable<Cq, CqHandle> cqs;
    SlotTable<Qp, QpHandle> qps;
    IdMap qp_by_number;
    Pool<SendWqe> send_wqes;
    Pool<RecvWqe> recv_wqes;
    Pool<SgeBlock, 64> sge_blocks;
    Pool<InlineBlock, 64> inline_blocks;
    Pool<ReceivedPacket> received_packets;
    Pool<Response> responses;
    DmaTable dma;
    TxFrames frames;
    TimerWheel timers;
    RingBuffer<StagedCompletion> completions;
    RingBuffer<AsyncEvent> events;
    RingBuffer<QpHandle> wanted;
    std::uint32_t scheduled_head = no_node;
    std::uint32_t scheduled_tail = no_node;
    std::uint16_t ipv4_identification = 0;
};

}  // namespace rocem::engine
