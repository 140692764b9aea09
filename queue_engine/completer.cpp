
#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

using protocol::DropReason;
using protocol::Operation;
using protocol::Syndrome;

constexpr std::uint8_t rnr_retry_for_ever = 7;

std::uint32_t steps(protocol::Psn from, protocol::Psn to) {
    return (to.value() - from.value()) & protocol::Psn::mask;
}

bool is_positive(const protocol::RocePacket& roce) {
    return !roce.info->has_aeth || Syndrome(roce.aeth.syndrome).kind() == Syndrome::Kind::ack;
}

WcStatus status_of(protocol::NakCode code) {
    switch (code) {
        case protocol::NakCode::remote_access_error:
            return WcStatus::remote_access_error;
        case protocol::NakCode::remote_operational_error:
            return WcStatus::remote_operation_error;
        default:
            return WcStatus::remote_invalid_request_error;
    }
}

}  // namespace

PacketResult Engine::Impl::handle_response(Time now, Qp& qp, const protocol::RocePacket& roce,
                                           RxToken token) {
    if (qp.state() != QpState::rts && qp.state() != QpState::sqd) return drop(DropReason::qp_state);
    const Requester& requester = qp.requester;
    const std::uint32_t outstanding = steps(requester.oldest_unacked_psn, requester.never_sent_psn);
    if (steps(requester.oldest_unacked_psn, roce.bth.psn) >= outstanding)
        return drop(DropReason::ghost_response);
    switch (roce.info->operation) {
        case Operation::acknowledge:
            return handle_acknowledge(now, qp, roce);
        case Operation::rdma_read_response:
            return handle_read_response(now, qp, roce, token);
        case Operation::atomic_acknowledge:
            return handle_atomic_response(now, qp, roce, token);
        default:
            return drop(DropReason::bad_response);
    }
}

bool Engine::Impl::acknowledge_before(Time now, Qp& qp, protocol::Psn psn) {
    const protocol::Psn before = qp.requester.oldest_unacked_psn;
    const std::uint32_t unanswered = mark_acknowledged(qp, psn);
    if (qp.requester.oldest_unacked_psn != before) forward_progress(now, qp);
    pull_cursor_forward(qp);
    if (unanswered == no_node) return true;
    resume_at_gap(now, qp, unanswered);
    return false;
}

PacketResult Engine::Impl::handle_acknowledge(Time now, Qp& qp, const protocol::RocePacket& roce) {
    const protocol::Psn psn = roce.bth.psn;
    const Syndrome syndrome(roce.aeth.syndrome);
    switch (syndrome.kind()) {
        case Syndrome::Kind::ack:
            acknowledge_before(now, qp, psn.next());
            break;
        case Syndrome::Kind::rnr_nak:
            if (acknowledge_before(now, qp, psn)) handle_rnr_nak(now, qp, psn, syndrome.code());
            break;
        case Syndrome::Kind::nak: {
            const auto code = syndrome.nak_code();
            if (!code || *code == protocol::NakCode::invalid_rd_request)
                return drop(DropReason::bad_response);
            if (acknowledge_before(now, qp, psn)) handle_nak(now, qp, psn, *code);
            break;
        }
        case Syndrome::Kind::reserved:
            return drop(DropReason::bad_response);
    }
    if (qp.state() != QpState::error) retire_done(now, qp);
    return {};
}

void Engine::Impl::handle_rnr_nak(Time now, Qp& qp, protocol::Psn psn, std::uint8_t timer_code) {
    Requester& requester = qp.requester;
    if (requester.rnr_until != never) return;  // a copy of the one that is being waited for
    if (qp.attributes.rnr_retry != rnr_retry_for_ever) {
        if (requester.rnr_retries_left == 0) {
            ++counters.req_rnr_retries_exceeded;
            fail_wqe(now, qp, find_wqe(qp, psn), WcStatus::rnr_retry_exceeded_error);
            return;
        }
        --requester.rnr_retries_left;
    }
    ++counters.rnr_nak_retry_err;
    go_back_to(qp, psn);
    requester.rnr_until = now + protocol::rnr_timer(timer_code);
    update_timer(qp);
}

void Engine::Impl::handle_nak(Time now, Qp& qp, protocol::Psn psn, protocol::NakCode code) {
    const std::uint32_t node = find_wqe(qp, psn);
    if (node == no_node) return;
    if (code == protocol::NakCode::psn_sequence_error) {
        const SendQueue& queue = qp.send_queue;
        const bool already_there =
            queue.cursor == node && queue.cursor_packet == steps(send_wqes[node].first_psn, psn);
        if (already_there || !spend_retry(now, qp)) return;
        ++counters.packet_seq_err;
        go_back_to(qp, psn);
        return;
    }
    switch (code) {
        case protocol::NakCode::remote_access_error:
            ++counters.req_remote_access_errors;
            break;
        case protocol::NakCode::remote_operational_error:
            ++counters.req_remote_operation_errors;
            break;
        default:
            ++counters.req_remote_invalid_request;
            break;
    }
    fail_wqe(now, qp, node, status_of(code));
}

// One response packet has been taken: everything up to psn is done.
void Engine::Impl::response_received(Time now, Qp& qp, SendWqe& wqe, protocol::Psn psn) {
    Requester& requester = qp.requester;
    SendQueue& queue = qp.send_queue;
    ++wqe.responded;
    wqe.resumed_at = no_node;
    requester.oldest_unacked_psn = psn.next();
    const bool at_cursor = queue.cursor != no_node && &send_wqes[queue.cursor] == &wqe;
    const bool part_done = at_cursor && wqe.in_flight && wqe.responded == queue.cursor_packet;
    if (wqe.responded == wqe.packets) {
        wqe.acked = true;
        if (wqe.in_flight) {
            wqe.in_flight = false;
            --requester.reads_in_flight;
            if (requester.in_flight > 0) --requester.in_flight;
        }
    } else if (part_done && requester.in_flight > 0) {
        --requester.in_flight;
    }
    forward_progress(now, qp);
    pull_cursor_forward(qp);
    retire_done(now, qp);
}

bool Engine::Impl::read_response_fits(const Qp& qp, const SendWqe& wqe, std::uint32_t number,
                                      const protocol::RocePacket& roce) const {
    const bool last = number + 1 == wqe.packets;
    const std::uint64_t expected = last ? wqe.length - std::uint64_t{number} * qp.mtu() : qp.mtu();
    if (!is_positive(roce) || roce.payload.size() != expected) return false;
    const bool ends_request = last || (number + 1) % read_request_psns_max == 0;
    return ends_request == roce.info->ends_message();
}

PacketResult Engine::Impl::handle_read_response(Time now, Qp& qp, const protocol::RocePacket& roce,
                                                RxToken token) {
    const protocol::Psn psn = roce.bth.psn;
    const std::uint32_t node = find_wqe(qp, psn);
    if (node == no_node) return drop(DropReason::bad_response);
    if (!acknowledge_before(now, qp, psn)) {
        retire_done(now, qp);
        return drop(DropReason::out_of_sequence);
    }
    SendWqe& wqe = send_wqes[node];
    const std::uint32_t number = wqe.responded;
    if (!wqe.is_read() || !read_response_fits(qp, wqe, number, roce)) {
        fail_wqe(now, qp, node, WcStatus::bad_response_error);
        return drop(DropReason::bad_response);
    }
    if (!dma_room(qp)) {
        retire_done(now, qp);
        return drop(DropReason::backlog_full);
    }
    Pieces pieces;
    if (!gather(qp, wqe.sges, std::uint64_t{number} * qp.mtu(), roce.payload.size(), access_local_write,
                pieces)) {
        fail_wqe(now, qp, node, WcStatus::local_protection_error);
        return {};
    }
    const bool last = number + 1 == wqe.packets;
    wqe.dma_pending += write_pieces(qp, pieces, roce.payload, token, last, DmaPurpose::response_data, node);
    response_received(now, qp, wqe, psn);
    return {};
}

PacketResult Engine::Impl::handle_atomic_response(Time now, Qp& qp, const protocol::RocePacket& roce,
                                                  RxToken token) {
    const protocol::Psn psn = roce.bth.psn;
    const std::uint32_t node = find_wqe(qp, psn);
    if (node == no_node) return drop(DropReason::bad_response);
    if (!acknowledge_before(now, qp, psn)) {
        retire_done(now, qp);
        return drop(DropReason::out_of_sequence);
    }
    SendWqe& wqe = send_wqes[node];
    if (!wqe.is_atomic() || !is_positive(roce)) {
        fail_wqe(now, qp, node, WcStatus::bad_response_error);
        return drop(DropReason::bad_response);
    }
    if (!dma_room(qp)) {
        retire_done(now, qp);
        return drop(DropReason::backlog_full);
    }
    Pieces pieces;
    if (!gather(qp, wqe.sges, 0, sizeof roce.atomic_ack_eth.original, access_local_write, pieces)) {
        fail_wqe(now, qp, node, WcStatus::local_protection_error);
        return {};
    }
    // Big endian on the wire, the host's order in memory.
    wqe.dma_pending += write_value(qp, pieces, roce.atomic_ack_eth.original, token, node);
    response_received(now, qp, wqe, psn);
    return {};
}

}  // namespace rocem::engine
