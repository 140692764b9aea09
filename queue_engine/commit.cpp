#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {

std::uint32_t Engine::Impl::append_received(Qp& qp, const ReceivedPacket& packet) {
    Responder& responder = qp.responder;
    const std::uint32_t node = received_packets.allocate();
    received_packets[node] = packet;
    if (responder.packets_tail == no_node) {
        responder.packets_head = node;
    } else {
        received_packets[responder.packets_tail].next = node;
    }
    responder.packets_tail = node;
    ++responder.packets;
    return node;
}

// Commits, in order, what has reached client memory: only that is acknowledged and completed (decision 2).
void Engine::Impl::commit_ready(Qp& qp) {
    Responder& responder = qp.responder;
    while (responder.packets_head != no_node && received_packets[responder.packets_head].dma_pending == 0) {
        const std::uint32_t node = responder.packets_head;
        const ReceivedPacket packet = received_packets[node];
        if (packet.faulty) {
            // The key was good and the memory behind it is not: the responder could not carry out what it
            // may.
            end_fatally(qp, packet.psn,
                        protocol::Syndrome::nak(protocol::NakCode::remote_operational_error).raw(),
                        packet.into_receive ? WcStatus::local_protection_error : WcStatus::flush_error);
            return;
        }
        responder.packets_head = packet.next;
        if (responder.packets_head == no_node) responder.packets_tail = no_node;
        --responder.packets;
        received_packets.release(node);
        switch (packet.kind) {
            case ReceivedPacket::Kind::sequence_nak:
            case ReceivedPacket::Kind::rnr_nak:
                push_nak(qp, packet.psn, packet.syndrome);
                break;
            case ReceivedPacket::Kind::fatal_nak:
                end_fatally(qp, packet.psn, packet.syndrome, packet.receive_status);
                return;
            default:
                commit(qp, packet);
                break;
        }
    }
}

void Engine::Impl::commit(Qp& qp, const ReceivedPacket& packet) {
    Responder& responder = qp.responder;
    responder.committed_psn = packet.psn.plus(packet.psn_count);
    if (packet.ends_message) responder.msn = responder.msn.next();
    if (packet.kind == ReceivedPacket::Kind::data) {
        if (packet.ends_message && !packet.into_receive) ++counters.rx_write_requests;
        if (packet.completes_receive) {
            const RecvWqe& receive = recv_wqes[packet.receive];
            WorkCompletion completion;
            completion.wr_id = receive.wr_id;
            completion.wqe_index = receive.wqe_index;
            completion.opcode =
                packet.into_receive ? WcOpcode::receive : WcOpcode::receive_rdma_with_immediate;
            completion.byte_len = packet.byte_len;
            completion.with_immediate = packet.with_immediate;
            completion.immediate = packet.immediate;
            completion.solicited = packet.solicited;
            complete(qp, completion, true);
            release_receive(packet.receive);
        }
        if (packet.ack_request) push_ack(qp);
        return;
    }
    ReadAtomicRecord& record = responder.history[packet.history];
    record.committed = true;
    Response response;
    response.psn = packet.psn;
    response.msn = responder.msn;
    response.record = packet.history;
    if (packet.kind == ReceivedPacket::Kind::read) {
        ++counters.rx_read_requests;
        response.kind = Response::Kind::read;
        response.r_key = record.r_key;
        response.va = record.va;
        response.left = record.length;
    } else {
        ++counters.rx_atomic_requests;
        response.kind = Response::Kind::atomic;
        response.original = record.original;
    }
    push_response(qp, response);
}

// The last answer of this QP: a NAK behind what is already on its way. Then ERR, and silence (5.8.15).
void Engine::Impl::end_fatally(Qp& qp, protocol::Psn psn, std::uint8_t syndrome, WcStatus receive_status) {
    qp.responder.closed = true;
    push_nak(qp, psn, syndrome);
    const auto code = protocol::Syndrome(syndrome).nak_code();
    if (code == protocol::NakCode::remote_access_error) raise(EventType::qp_access_error, qp);
    if (code == protocol::NakCode::invalid_request) raise(EventType::qp_request_error, qp);
    to_error(qp, WcStatus::flush_error, receive_status);
}

void Engine::Impl::handle_dma(Time now, std::span<const DmaAnswer> answers) {
    for (const DmaAnswer& answer : answers) {
        PendingDma pending;
        if (!dma.finish(answer.id, pending)) continue;
        memory.dma_answered(pending.mr);
        Qp& qp = *qps.at(pending.qp);
        --qp.dma_pending;
        if (!answer.ok) ++counters.dma_faults;
        const bool current = pending.life == qp.life;
        switch (pending.purpose) {
            case DmaPurpose::frame_payload:
                answer_frame(now, qp, pending.reference, answer.ok);
                break;
            case DmaPurpose::request_data:
                if (current) answer_request(qp, pending.reference, answer);
                break;
            case DmaPurpose::response_data:
                if (current) answer_response(now, qp, pending.reference, answer.ok);
                break;
        }
        operation_ended(qp);
    }
}

void Engine::Impl::answer_frame(Time now, Qp& qp, TxFrameId id, bool ok) {
    PendingFrame& frame = frames[id];
    --frame.dma_pending;
    const bool is_request = frame.role == FrameRole::request;
    FrameQueue& queue = is_request ? qp.requester.frames : qp.responder.frames;
    if (!ok && !frame.faulty) {
        const bool current = frame.epoch == (is_request ? qp.requester.epoch : qp.responder.epoch);
        frame.faulty = true;
        if (is_request) {
            const bool retired = frame.psn.precedes(qp.requester.oldest_unacked_psn);
            if (current && !retired) fail_wqe(now, qp, frame.wqe, WcStatus::local_protection_error);
        } else if (current) {
            // Frames behind this one are not sent; those before it are. A fatal NAK that stood behind them
            // gives way to this one.
            for (TxFrameId later = frame.next; later != no_node; later = frames[later].next)
                frames[later].faulty = true;
            while (has_response(qp))
                pop_response(qp);
            end_fatally(qp, frame.psn,
                        protocol::Syndrome::nak(protocol::NakCode::remote_operational_error).raw(),
                        WcStatus::flush_error);
        }
    }
    frames.release_ready(queue);
}

void Engine::Impl::answer_request(Qp& qp, std::uint32_t node, const DmaAnswer& answer) {
    ReceivedPacket& packet = received_packets[node];
    --packet.dma_pending;
    if (!answer.ok) packet.faulty = true;
    if (packet.kind == ReceivedPacket::Kind::atomic)
        qp.responder.history[packet.history].original = answer.original;
    commit_ready(qp);
}

void Engine::Impl::answer_response(Time now, Qp& qp, std::uint32_t node, bool ok) {
    --send_wqes[node].dma_pending;
    if (ok) {
        retire_done(now, qp);
    } else {
        fail_wqe(now, qp, node, WcStatus::local_protection_error);
    }
}

}  // namespace rocem::engine
