#include "queue_engine/engine_impl.hpp"
#include "queue_engine/responder_checks.hpp"

namespace rocem::engine {
namespace {

using protocol::DropReason;
using protocol::NakCode;
using protocol::Operation;

bool needs_receive(const protocol::OpcodeInfo& info) {
    if (info.operation == Operation::send) return info.starts_message();
    return info.operation == Operation::rdma_write && info.has_immdt;  // at its end only (5.8.4)
}

}  // namespace

PacketResult Engine::Impl::handle_request(Qp& qp, const protocol::RocePacket& roce, RxToken token,
                                          MissingReceive missing) {
    Responder& responder = qp.responder;
    if (qp.state() != QpState::rtr && qp.state() != QpState::rts && qp.state() != QpState::sqd) {
        return drop(DropReason::qp_state);
    }
    if (responder.closed) return drop(DropReason::after_fatal_error);
    if (qp.state() == QpState::rtr && !responder.established) {
        responder.established = true;
        raise(EventType::communication_established, qp);
    }
    const std::int32_t distance = protocol::Psn::distance(responder.expected_psn, roce.bth.psn);
    if (distance > 0) return ahead_of_sequence(qp);
    if (distance < 0) return handle_duplicate(qp, roce);
    return handle_expected(qp, roce, token, missing);
}

// 5.8.1: one NAK for a gap, then silence until the expected packet arrives; the same after an RNR NAK.
PacketResult Engine::Impl::ahead_of_sequence(Qp& qp) {
    Responder& responder = qp.responder;
    ++counters.out_of_sequence;
    if (!responder.silent && backlog_room(qp)) {
        responder.silent = true;
        ReceivedPacket nak;
        nak.kind = ReceivedPacket::Kind::sequence_nak;
        nak.psn = responder.expected_psn;
        nak.syndrome = protocol::Syndrome::nak(NakCode::psn_sequence_error).raw();
        append_received(qp, nak);
        commit_ready(qp);
    }
    return drop(DropReason::out_of_sequence);
}

// The checks of 5.8, in their order: sequence of opcodes, operation, receive, length, key.
PacketResult Engine::Impl::handle_expected(Qp& qp, const protocol::RocePacket& roce, RxToken token,
                                           MissingReceive missing) {
    Responder& responder = qp.responder;
    const protocol::OpcodeInfo& info = *roce.info;
    const protocol::Psn psn = roce.bth.psn;
    const bool answerable = !is_read_or_atomic(info) || response_room(qp);
    if (!dma_room(qp) || !backlog_room(qp) || !answerable) return drop(DropReason::backlog_full);

    if (!continues_message(responder.incoming, info)) return refuse(qp, psn, NakCode::invalid_request);
    if (!is_supported(info)) {
        queue_fatal_nak(qp, psn, NakCode::invalid_request, WcStatus::flush_error);
        return drop(DropReason::unsupported_operation);
    }
    if (!access_is_enabled(qp.attributes.access_flags, info))
        return refuse(qp, psn, NakCode::invalid_request);
    if (is_read_or_atomic(info) && responder.reads_in_progress >= qp.attributes.max_dest_rd_atomic) {
        return refuse(qp, psn, NakCode::invalid_request);  // 5.8.9: more than max_dest_rd_atomic
    }
    if (needs_receive(info) && qp.receive_queue.head == no_node) {
        if (missing == MissingReceive::ask) return {PacketOutcome::needs_receive, {}, qp.handle};
        return receiver_not_ready(qp, psn);
    }
    responder.silent = false;
    if (!payload_fits(roce, qp.mtu(), settings.limits.max_msg_sz))
        return refuse(qp, psn, NakCode::invalid_request);
    return place_and_execute(qp, roce, token);
}

PacketResult Engine::Impl::receiver_not_ready(Qp& qp, protocol::Psn psn) {
    qp.responder.silent = true;
    ++counters.out_of_buffer;
    ReceivedPacket nak;
    nak.kind = ReceivedPacket::Kind::rnr_nak;
    nak.psn = psn;
    nak.syndrome = protocol::Syndrome::rnr_nak(qp.attributes.min_rnr_timer).raw();
    append_received(qp, nak);
    commit_ready(qp);
    return drop(DropReason::receiver_not_ready);
}

PacketResult Engine::Impl::refuse(Qp& qp, protocol::Psn psn, NakCode code, WcStatus receive_status) {
    queue_fatal_nak(qp, psn, code, receive_status);
    switch (code) {
        case NakCode::remote_access_error:
            return drop(DropReason::remote_access);
        case NakCode::remote_operational_error:
            return drop(DropReason::remote_operation);
        default:
            return drop(DropReason::invalid_request);
    }
}

// A fatal NAK takes its turn behind what was received before; what comes after it is not looked at.
void Engine::Impl::queue_fatal_nak(Qp& qp, protocol::Psn psn, NakCode code, WcStatus receive_status) {
    qp.responder.closed = true;
    ReceivedPacket nak;
    nak.kind = ReceivedPacket::Kind::fatal_nak;
    nak.psn = psn;
    nak.syndrome = protocol::Syndrome::nak(code).raw();
    nak.receive_status = receive_status;
    append_received(qp, nak);
    commit_ready(qp);
}

}  // namespace rocem::engine
