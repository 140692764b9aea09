#include <algorithm>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

// Frames that a QP sends before the next one gets its turn.
constexpr std::uint32_t burst_frames = 16;

constexpr Duration timeout_unit{4096};

}  // namespace

void Engine::Impl::schedule(Qp& qp) {
    const bool has_work = has_response(qp) || qp.send_queue.cursor != no_node;
    if (qp.scheduled || !has_work) return;
    qp.scheduled = true;
    qp.burst_left = burst_frames;
    qp.next_scheduled = no_node;
    if (scheduled_tail == no_node) {
        scheduled_head = qp.handle.index;
    } else {
        qps.at(scheduled_tail)->next_scheduled = qp.handle.index;
    }
    scheduled_tail = qp.handle.index;
}

std::optional<TxFrame> Engine::Impl::poll_transmit(Time now, std::span<std::byte> buffer) {
    while (scheduled_head != no_node) {
        Qp& qp = *qps.at(scheduled_head);
        if (frames.full() || !dma_room(qp)) return std::nullopt;
        std::optional<TxFrame> frame;
        qp.throttled = !within_share(qp);
        if (qp.burst_left > 0 && !qp.throttled) {
            const bool requests = request_sendable(now, qp);
            const bool responses_first = has_response(qp) && (qp.turn_of_responses || !requests);
            if (responses_first) {
                frame = next_response(qp, buffer);
            } else if (requests) {
                frame = next_request(now, qp, buffer);
            }
            qp.turn_of_responses = !responses_first;
            if (frame) {
                --qp.burst_left;
                return frame;
            }
        }
        scheduled_head = qp.next_scheduled;
        if (scheduled_head == no_node) scheduled_tail = no_node;
        qp.scheduled = false;
        if (!qp.throttled && (has_response(qp) || request_sendable(now, qp))) schedule(qp);
        erase_if_quiet(qp);
    }
    return std::nullopt;
}

bool Engine::Impl::poll_frame(Time now, FrameVerdict& verdict) {
    if (!frames.poll_ready(verdict.id)) return false;
    const PendingFrame frame = frames[verdict.id];
    frames.free(verdict.id);
    Qp& qp = *qps.at(frame.qp);
    --qp.frames_pending;
    const bool is_request = frame.role == FrameRole::request;
    const bool current = frame.epoch == (is_request ? qp.requester.epoch : qp.responder.epoch);
    // A request that was answered meanwhile, to its end (by an answer to its earlier copy), is not sent
    // again.
    const protocol::Psn end = frame.psn.plus(frame.psns);
    const bool retired = is_request && end.precedes_or_equals(qp.requester.oldest_unacked_psn);
    const bool stopped = is_request && qp.requester.stopped && !frame.psn.precedes(qp.requester.stop_psn);
    verdict.action =
        current && !retired && !stopped && !frame.faulty ? FrameAction::send : FrameAction::discard;
    if (verdict.action == FrameAction::send) {
        ++counters.rdma_tx_packets;
        counters.rdma_tx_bytes += frame.length;
        if (is_request) request_left(now, qp, frame);
    }
    operation_ended(qp);
    return true;
}

// One of its frames or DMA operations has ended.
void Engine::Impl::operation_ended(Qp& qp) {
    if (qp.throttled) {
        qp.throttled = false;
        schedule(qp);
    }
    erase_if_quiet(qp);
}

void Engine::Impl::request_left(Time now, Qp& qp, const PendingFrame& frame) {
    Requester& requester = qp.requester;
    const protocol::Psn end = frame.psn.plus(frame.psns);
    if (frame.psn.precedes(requester.never_sent_psn)) ++counters.retransmitted_packets;
    if (requester.never_sent_psn.precedes(end)) requester.never_sent_psn = end;
    requester.left_psn = end;
    if (requester.ack_deadline == never) arm_timer(now, qp);
}

// The timer waits for an answer to the oldest request without one: it stands still while that request has
// not left, which may take as long as its payload does.
void Engine::Impl::arm_timer(Time now, Qp& qp) {
    Requester& requester = qp.requester;
    const bool outstanding = requester.oldest_unacked_psn.precedes(requester.left_psn);
    const bool runs = outstanding && qp.attributes.timeout != 0 && requester.rnr_until == never;
    requester.ack_deadline = runs ? now + timeout_unit * (std::int64_t{1} << qp.attributes.timeout) : never;
    update_timer(qp);
}

void Engine::Impl::update_timer(Qp& qp) {
    const Time deadline = std::min(qp.requester.ack_deadline, qp.requester.rnr_until);
    const std::uint32_t timer = qp.handle.index;
    if (deadline == never) {
        timers.cancel(timer);
    } else if (!timers.scheduled(timer) || deadline < qp.timer_at) {
        timers.schedule(timer, deadline);
        qp.timer_at = deadline;
    }
    // A later deadline leaves the wheel alone: the QP is woken early once, and looks at the clock.
}

void Engine::Impl::handle_timeout(Time now) {
    for (std::uint32_t timer = timers.pop_expired(now); timer != TimerWheel::no_timer;
         timer = timers.pop_expired(now)) {
        Qp& qp = *qps.at(timer);
        Requester& requester = qp.requester;
        if (requester.rnr_until <= now) {
            requester.rnr_until = never;
            schedule(qp);
        }
        if (requester.ack_deadline <= now) ack_timeout(now, qp);
        update_timer(qp);
    }
}

}  // namespace rocem::engine
