#include <utility>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

WcOpcode send_completion_opcode(WrOpcode opcode) {
    switch (opcode) {
        case WrOpcode::rdma_write:
        case WrOpcode::rdma_write_with_immediate:
            return WcOpcode::rdma_write;
        case WrOpcode::send:
        case WrOpcode::send_with_immediate:
            return WcOpcode::send;
        case WrOpcode::rdma_read:
            return WcOpcode::rdma_read;
        case WrOpcode::compare_swap:
            return WcOpcode::compare_swap;
        case WrOpcode::fetch_add:
            return WcOpcode::fetch_add;
    }
    return WcOpcode::send;
}

}  // namespace

void Engine::Impl::complete(Qp& qp, WorkCompletion completion, bool receive) {
    completion.qp = qp.handle;
    completion.qp_num = qp.qpn;
    completion.cq = receive ? qp.init.recv_cq : qp.init.send_cq;
    const bool error = completion.status != WcStatus::success;
    if (error) {
        completion.solicited = true;
        const bool flushed = completion.status == WcStatus::flush_error;
        if (receive) {
            ++(flushed ? counters.resp_cqe_flush_error : counters.resp_cqe_error);
        } else {
            ++(flushed ? counters.req_cqe_flush_error : counters.req_cqe_error);
        }
        if (receive && completion.status == WcStatus::local_length_error) ++counters.resp_local_length_error;
    }
    completions.push({completion, qp.completion_life});
}

void Engine::Impl::complete_send(Qp& qp, const SendWqe& wqe, WcStatus status) {
    if (status == WcStatus::success && !wqe.signaled) return;
    WorkCompletion completion;
    completion.wr_id = wqe.wr_id;
    completion.wqe_index = wqe.wqe_index;
    completion.status = status;
    completion.opcode = send_completion_opcode(wqe.opcode);
    if (wqe.awaits_response()) completion.byte_len = static_cast<std::uint32_t>(wqe.length);
    complete(qp, completion, false);
}

void Engine::Impl::complete_receive(Qp& qp, const RecvWqe& wqe, WcStatus status, std::uint32_t byte_len) {
    WorkCompletion completion;
    completion.wr_id = wqe.wr_id;
    completion.wqe_index = wqe.wqe_index;
    completion.status = status;
    completion.opcode = WcOpcode::receive;
    completion.byte_len = byte_len;
    complete(qp, completion, true);
}

bool Engine::Impl::poll_completion(WorkCompletion& completion) {
    while (!completions.empty()) {
        const StagedCompletion staged = completions.front();
        completions.pop();
        // A QP that was destroyed or reset takes its completions with it; a dead CQ takes none.
        const Qp* qp = qps.find(staged.completion.qp);
        if (qp == nullptr || qp->completion_life != staged.life) continue;
        const Cq* cq = cqs.find(staged.completion.cq);
        if (cq == nullptr || cq->dead) continue;
        completion = staged.completion;
        return true;
    }
    return false;
}

void Engine::Impl::handle_cq_overflow(CqHandle handle) {
    Cq* cq = cqs.find(handle);
    if (cq == nullptr || cq->dead) return;
    cq->dead = true;
    ++counters.cq_overflows;
    events.push({EventType::cq_error, {}, handle});
    for (std::uint32_t i = 0; i < qps.slots(); ++i) {
        Qp* qp = qps.at(i);
        if (qp == nullptr || qp->destroyed || qp->state() == QpState::reset || qp->state() == QpState::error)
            continue;
        if (qp->init.send_cq != handle && qp->init.recv_cq != handle) continue;
        to_error(*qp);
        raise(EventType::qp_fatal, *qp);
    }
}

void Engine::Impl::raise(EventType type, const Qp& qp) {
    events.push({type, qp.handle, {}});
}

void Engine::Impl::to_error(Qp& qp, WcStatus send_cause, WcStatus receive_cause) {
    qp.attributes.state = QpState::error;
    qp.drain_pending = false;
    ++qp.life;
    ++qp.requester.epoch;
    qp.requester.ack_deadline = qp.requester.rnr_until = never;
    timers.cancel(qp.handle.index);
    while (qp.send_queue.head != no_node) {
        complete_send(qp, send_wqes[qp.send_queue.head], std::exchange(send_cause, WcStatus::flush_error));
        release_send_head(qp);
    }
    // Receives complete in the order in which they were taken: by packets not committed, by the message under
    // way, by none.
    const auto flush = [&](std::uint32_t node) {
        complete_receive(qp, recv_wqes[node], std::exchange(receive_cause, WcStatus::flush_error), 0);
    };
    Responder& responder = qp.responder;
    for (std::uint32_t i = responder.packets_head; i != no_node; i = received_packets[i].next) {
        if (received_packets[i].completes_receive) flush(received_packets[i].receive);
    }
    if (responder.receive != no_node) flush(responder.receive);
    clear_responder(qp, responder.closed);
    while (qp.receive_queue.head != no_node) {
        const std::uint32_t node = take_receive(qp);
        flush(node);
        release_receive(node);
    }
}

void Engine::Impl::release_send_head(Qp& qp) {
    SendQueue& queue = qp.send_queue;
    const std::uint32_t node = queue.head;
    SendWqe& wqe = send_wqes[node];
    queue.head = wqe.next;
    if (queue.head == no_node) queue.tail = no_node;
    if (queue.cursor == node) {
        queue.cursor = wqe.next;
        queue.cursor_packet = 0;
    }
    --queue.count;
    release_sges(wqe.sges);
    if (wqe.inline_block != no_node) inline_blocks.release(wqe.inline_block);
    send_wqes.release(node);
    if (queue.count == send_capacity(qp) / 2) want(qp, true);
}

std::uint32_t Engine::Impl::take_receive(Qp& qp) {
    ReceiveQueue& queue = qp.receive_queue;
    const std::uint32_t node = queue.head;
    queue.head = recv_wqes[node].next;
    if (queue.head == no_node) queue.tail = no_node;
    --queue.count;
    if (queue.count == receive_capacity(qp) / 2) want(qp, false);
    return node;
}

void Engine::Impl::release_receive(std::uint32_t node) {
    release_sges(recv_wqes[node].sges);
    recv_wqes.release(node);
}

void Engine::Impl::clear_responder(Qp& qp, bool keep_responses) {
    Responder& responder = qp.responder;
    while (responder.packets_head != no_node) {
        const std::uint32_t node = responder.packets_head;
        const ReceivedPacket& packet = received_packets[node];
        responder.packets_head = packet.next;
        if (packet.completes_receive) release_receive(packet.receive);
        received_packets.release(node);
    }
    responder.packets_tail = no_node;
    responder.packets = 0;
    if (responder.receive != no_node) release_receive(responder.receive);
    responder.receive = no_node;
    responder.incoming = IncomingMessage::none;
    if (keep_responses) return;
    ++responder.epoch;
    while (responder.responses_head != no_node)
        pop_response(qp);
}

}  // namespace rocem::engine
