#include <algorithm>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

// PSNs from one to another, going up. Never compared as signed: a message may take 2^23 of them.
std::uint32_t steps(protocol::Psn from, protocol::Psn to) {
    return (to.value() - from.value()) & protocol::Psn::mask;
}

}  // namespace

std::uint32_t Engine::Impl::find_wqe(const Qp& qp, protocol::Psn psn) const {
    for (std::uint32_t node = qp.send_queue.head; node != no_node; node = send_wqes[node].next) {
        const SendWqe& wqe = send_wqes[node];
        if (!wqe.started) break;
        if (steps(wqe.first_psn, psn) < wqe.packets) return node;
    }
    return no_node;
}

std::uint32_t Engine::Impl::mark_acknowledged(Qp& qp, protocol::Psn psn) {
    Requester& requester = qp.requester;
    const protocol::Psn oldest = requester.oldest_unacked_psn;
    const std::uint32_t target = steps(oldest, psn);
    std::uint32_t unanswered = no_node;
    for (std::uint32_t node = qp.send_queue.head; node != no_node; node = send_wqes[node].next) {
        SendWqe& wqe = send_wqes[node];
        if (!wqe.started) break;
        if (wqe.acked) continue;
        const std::uint32_t inside = steps(wqe.first_psn, oldest);
        const std::uint32_t acked_already = inside < wqe.packets ? inside : 0;
        const std::uint32_t begin = inside < wqe.packets ? 0 : steps(oldest, wqe.first_psn);
        if (begin >= target) break;
        const std::uint32_t covered = std::min(wqe.packets, acked_already + (target - begin));
        if (wqe.awaits_response()) {
            if (covered > wqe.responded) {
                psn = wqe.first_psn.plus(wqe.responded);
                unanswered = node;
            }
            break;
        }
        requester.in_flight -= std::min(requester.in_flight, covered - acked_already);
        wqe.acked = covered == wqe.packets;
    }
    requester.oldest_unacked_psn = psn;
    return unanswered;
}

// An ACK for a packet's earlier copy may pass the place where sending resumes.
void Engine::Impl::pull_cursor_forward(Qp& qp) {
    SendQueue& queue = qp.send_queue;
    bool moved = false;
    while (queue.cursor != no_node && send_wqes[queue.cursor].acked) {
        queue.cursor = send_wqes[queue.cursor].next;
        queue.cursor_packet = 0;
        moved = true;
    }
    if (queue.cursor != no_node && send_wqes[queue.cursor].started) {
        const SendWqe& wqe = send_wqes[queue.cursor];
        const std::uint32_t acked = steps(wqe.first_psn, qp.requester.oldest_unacked_psn);
        if (acked < wqe.packets && acked > queue.cursor_packet) {
            queue.cursor_packet = acked;
            moved = true;
        }
    }
    if (moved) count_in_flight(qp);
}

void Engine::Impl::go_back_to(Qp& qp, protocol::Psn psn) {
    const std::uint32_t node = find_wqe(qp, psn);
    if (node == no_node) return;
    const SendWqe& wqe = send_wqes[node];
    const std::uint32_t number = steps(wqe.first_psn, psn);
    qp.send_queue.cursor = node;
    qp.send_queue.cursor_packet = wqe.awaits_response() ? std::max(number, wqe.responded) : number;
    ++qp.requester.epoch;
    qp.requester.left_psn = psn;
    ++counters.retransmission_rounds;
    qp.requester.ack_deadline = never;  // starts again with the first frame
    qp.requester.since_ack_request = 0;
    count_in_flight(qp);
    schedule(qp);
}

void Engine::Impl::count_in_flight(Qp& qp) {
    Requester& requester = qp.requester;
    const SendQueue& queue = qp.send_queue;
    requester.in_flight = 0;
    requester.reads_in_flight = 0;
    bool sent = true;
    for (std::uint32_t node = queue.head; node != no_node; node = send_wqes[node].next) {
        SendWqe& wqe = send_wqes[node];
        if (!wqe.started) break;
        const bool at_cursor = node == queue.cursor;
        if (at_cursor) sent = false;
        if (wqe.awaits_response()) {
            wqe.in_flight = sent && !wqe.acked;
            requester.reads_in_flight += wqe.in_flight ? 1 : 0;
            requester.in_flight += wqe.in_flight ? 1 : 0;
        } else if (!wqe.acked) {
            const std::uint32_t inside = steps(wqe.first_psn, requester.oldest_unacked_psn);
            const std::uint32_t acked = inside < wqe.packets ? inside : 0;
            const std::uint32_t end = sent ? wqe.packets : at_cursor ? queue.cursor_packet : 0;
            requester.in_flight += end > acked ? end - acked : 0;
        }
    }
}

void Engine::Impl::retire_done(Time, Qp& qp) {
    while (qp.send_queue.head != no_node) {
        const SendWqe& wqe = send_wqes[qp.send_queue.head];
        if (wqe.error != WcStatus::success) {
            to_error(qp, wqe.error);
            return;
        }
        if (!wqe.acked || wqe.dma_pending > 0) break;
        complete_send(qp, wqe, WcStatus::success);
        release_send_head(qp);
    }
    drain_if_done(qp);
    if (qp.send_queue.cursor != no_node) schedule(qp);
}

}  // namespace rocem::engine
