#include <algorithm>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

using protocol::Opcode;
using protocol::Syndrome;

// Beside an answer for each READ and atomic allowed: NAKs, ACKs between them, and answers repeated for
// duplicates.
constexpr std::uint32_t extra_responses = 16;

Opcode read_response_opcode(bool first, bool last) {
    if (first) return last ? Opcode::rc_rdma_read_response_only : Opcode::rc_rdma_read_response_first;
    return last ? Opcode::rc_rdma_read_response_last : Opcode::rc_rdma_read_response_middle;
}

}  // namespace

bool Engine::Impl::response_room(const Qp& qp) const {
    const std::uint32_t limit = 2u * qp.attributes.max_dest_rd_atomic + extra_responses;
    return qp.responder.responses < limit && responses.available() > extra_responses;
}

// One ACK for all that is committed. Two that would leave next to each other are one (5.8.11).
void Engine::Impl::push_ack(Qp& qp) {
    Responder& responder = qp.responder;
    const protocol::Psn psn = responder.committed_psn.minus(1);
    if (responder.responses_tail != no_node &&
        responses[responder.responses_tail].kind == Response::Kind::ack) {
        Response& tail = responses[responder.responses_tail];
        tail.psn = psn;
        tail.msn = responder.msn;
        return;
    }
    if (!response_room(qp)) return;  // lost like any frame
    Response ack;
    ack.kind = Response::Kind::ack;
    ack.syndrome = Syndrome::ack().raw();
    ack.psn = psn;
    ack.msn = responder.msn;
    push_response(qp, ack);
}

void Engine::Impl::push_nak(Qp& qp, protocol::Psn psn, std::uint8_t syndrome) {
    if (!qp.responder.closed && !response_room(qp)) return;  // lost like any frame, but for a fatal one
    Response nak;
    nak.kind = Response::Kind::nak;
    nak.syndrome = syndrome;
    nak.psn = psn;
    nak.msn = qp.responder.msn;
    push_response(qp, nak);
}

void Engine::Impl::push_response(Qp& qp, const Response& response) {
    Responder& responder = qp.responder;
    const std::uint32_t node = responses.allocate();
    if (node == no_node) {  // lost like any frame: the requester asks again
        if (response.record != no_node) --responder.reads_in_progress;
        return;
    }
    responses[node] = response;
    if (responder.responses_tail == no_node) {
        responder.responses_head = node;
    } else {
        responses[responder.responses_tail].next = node;
    }
    responder.responses_tail = node;
    ++responder.responses;
    schedule(qp);
}

void Engine::Impl::pop_response(Qp& qp) {
    Responder& responder = qp.responder;
    const std::uint32_t node = responder.responses_head;
    if (responses[node].record != no_node) --responder.reads_in_progress;
    responder.responses_head = responses[node].next;
    if (responder.responses_head == no_node) responder.responses_tail = no_node;
    --responder.responses;
    responses.release(node);
}

std::optional<TxFrame> Engine::Impl::next_response(Qp& qp, std::span<std::byte> buffer) {
    Response& response = responses[qp.responder.responses_head];
    if (response.kind == Response::Kind::read) return next_read_response(qp, response, buffer);
    protocol::RocePacket roce;
    roce.bth.psn = response.psn;
    roce.aeth.msn = response.msn;
    if (response.kind == Response::Kind::atomic) {
        roce.info = &protocol::opcode_info(Opcode::rc_atomic_acknowledge);
        roce.aeth.syndrome = Syndrome::ack().raw();
        roce.atomic_ack_eth.original = response.original;
    } else {
        roce.info = &protocol::opcode_info(Opcode::rc_acknowledge);
        roce.aeth.syndrome = response.syndrome;
        count_acknowledge(response.syndrome);
    }
    PendingFrame pending;
    pending.role = FrameRole::response;
    const BuiltFrame built = build_frame(qp, roce, 0, buffer, pending);
    pop_response(qp);
    return release_frame(qp, built, FrameRole::response);
}

std::optional<TxFrame> Engine::Impl::next_read_response(Qp& qp, Response& response,
                                                        std::span<std::byte> buffer) {
    const std::uint32_t bytes = std::min(response.left, qp.mtu());
    const bool last = bytes == response.left;
    Pieces pieces;
    // The key is looked at again for every packet: it may have gone since the request was checked (decision
    // 7).
    if (bytes > 0 && !translate_remote(qp, response.r_key, response.va, bytes, access_remote_read, pieces)) {
        const protocol::Psn psn = response.psn;
        while (has_response(qp))
            pop_response(qp);
        end_fatally(qp, psn, Syndrome::nak(protocol::NakCode::remote_access_error).raw(),
                    WcStatus::flush_error);
        return next_response(qp, buffer);
    }
    protocol::RocePacket roce;
    roce.info = &protocol::opcode_info(read_response_opcode(response.first, last));
    roce.bth.psn = response.psn;
    roce.aeth.syndrome = Syndrome::ack().raw();
    roce.aeth.msn = response.msn;
    PendingFrame pending;
    pending.role = FrameRole::response;
    const BuiltFrame built = build_frame(qp, roce, bytes, buffer, pending);
    if (bytes > 0) {
        pieces.items[0].length = bytes;
        read_pieces(qp, pieces, built.frame.id, built.payload);
    }
    response.first = false;
    response.psn = response.psn.next();
    response.va += bytes;
    response.left -= bytes;
    if (last) pop_response(qp);
    return release_frame(qp, built, FrameRole::response);
}

void Engine::Impl::count_acknowledge(std::uint8_t raw) {
    const Syndrome syndrome(raw);
    if (syndrome.kind() == Syndrome::Kind::ack) ++counters.acks_sent;
    if (syndrome.kind() != Syndrome::Kind::nak) return;
    switch (*syndrome.nak_code()) {
        case protocol::NakCode::psn_sequence_error:
            ++counters.seq_naks_sent;
            break;
        case protocol::NakCode::remote_access_error:
            ++counters.resp_remote_access_errors;
            break;
        case protocol::NakCode::remote_operational_error:
            ++counters.resp_remote_operation_errors;
            break;
        default:
            ++counters.resp_invalid_request_errors;
            break;
    }
}

}  // namespace rocem::engine
