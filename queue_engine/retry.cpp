#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {

void Engine::Impl::forward_progress(Time now, Qp& qp) {
    qp.requester.retries_left = qp.attributes.retry_cnt;
    qp.requester.rnr_retries_left = qp.attributes.rnr_retry;
    arm_timer(now, qp);
}

bool Engine::Impl::spend_retry(Time now, Qp& qp) {
    if (qp.requester.retries_left > 0) {
        --qp.requester.retries_left;
        return true;
    }
    ++counters.req_transport_retries_exceeded;
    fail_wqe(now, qp, find_wqe(qp, qp.requester.oldest_unacked_psn), WcStatus::retry_exceeded_error);
    return false;
}

void Engine::Impl::ack_timeout(Time now, Qp& qp) {
    qp.requester.ack_deadline = never;
    if (!spend_retry(now, qp)) return;
    ++counters.local_ack_timeout_err;
    const std::uint32_t node = find_wqe(qp, qp.requester.oldest_unacked_psn);
    if (node != no_node) send_wqes[node].resumed_at = no_node;
    go_back_to(qp, qp.requester.oldest_unacked_psn);
}

void Engine::Impl::resume_at_gap(Time now, Qp& qp, std::uint32_t node) {
    SendWqe& wqe = send_wqes[node];
    // What was sent before the gap was noticed still arrives: one request for each gap is enough.
    const SendQueue& queue = qp.send_queue;
    const bool already_there = queue.cursor == node && queue.cursor_packet == wqe.responded;
    if (already_there || wqe.resumed_at == wqe.responded || !spend_retry(now, qp)) return;
    ++counters.implied_nak_seq_err;
    wqe.resumed_at = wqe.responded;
    go_back_to(qp, wqe.first_psn.plus(wqe.responded));
}

void Engine::Impl::fail_wqe(Time now, Qp& qp, std::uint32_t node, WcStatus status) {
    if (node == no_node) return;
    SendWqe& wqe = send_wqes[node];
    if (wqe.error == WcStatus::success) wqe.error = status;
    // The cursor stays here. Frames already built for it and its successors are not sent, those before it
    // are.
    qp.send_queue.cursor = node;
    qp.send_queue.cursor_packet = 0;
    Requester& requester = qp.requester;
    if (wqe.started && (!requester.stopped || wqe.first_psn.precedes(requester.stop_psn))) {
        requester.stopped = true;
        requester.stop_psn = wqe.first_psn;
    }
    retire_done(now, qp);
}

}  // namespace rocem::engine
