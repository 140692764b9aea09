// From the engine into a client's completion rings, channels and event socket (decisions 8 and 12).
#include <fmt/format.h>

#include <cstring>

#include "daemon/client_session.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::daemon {

void ClientSession::push_completion(engine::Time now, std::uint32_t cq_slot,
                                    const engine::WorkCompletion& completion) {
    SessionCq* cq = cqs_.find(cq_slot);
    if (cq == nullptr || cq->overflowed || violation_) return;
    const auto outstanding = cq->ring.outstanding();
    if (!outstanding) {
        fail(fmt::format("CQ {}: consumer index outside its window", cq_slot));
        return;
    }
    if (*outstanding + cq->unpublished >= cq->ring.capacity()) {
        overflow(now, *cq);
        return;
    }
    const SlotOwner owner = nic_.qp_owners.at(completion.qp.index);
    const SessionQp* qp = owner.session == this ? qps_.find(owner.slot) : nullptr;
    if (qp == nullptr) return;

    ipc::Cqe cqe{};
    cqe.wr_id = completion.wr_id;
    cqe.qp_slot = owner.slot;
    cqe.qp_epoch = qp->epoch;
    cqe.wqe_index = completion.wqe_index;
    cqe.qpn = completion.qp_num.value();
    cqe.byte_len = completion.byte_len;
    cqe.immediate = completion.immediate;
    cqe.status = static_cast<std::uint8_t>(completion.status);
    cqe.opcode = static_cast<std::uint8_t>(completion.opcode);
    cqe.flags = completion.with_immediate ? ROCEM_ABI_CQE_WITH_IMMEDIATE : 0;
    std::memcpy(cq->ring.slot(cq->ring.tail() + cq->unpublished), &cqe, sizeof(cqe));

    if (cq->unpublished++ == 0) unpublished_cqs_.push_back(cq_slot);
    cq->wakes_solicited = cq->wakes_solicited || completion.solicited;
}

void ClientSession::publish() {
    for (const std::uint32_t slot : unpublished_cqs_) {
        SessionCq& cq = *cqs_.find(slot);
        // seq_cst: the client arms, then polls; we publish, then look at the arm. One of the two sees the
        // other.
        cq.ring.publish(cq.unpublished, std::memory_order_seq_cst);
        cq.unpublished = 0;
        const bool solicited = std::exchange(cq.wakes_solicited, false);
        if (cq.channel >= 0 && ipc::take_arm(*cq.head, solicited)) {
            ipc::send_cq_event(cq.channel, resources_.segment->missed_events,
                               {.cq_slot = slot, .cq_epoch = cq.epoch});
        }
    }
    unpublished_cqs_.clear();
}

void ClientSession::overflow(engine::Time now, SessionCq& cq) {
    cq.overflowed = true;
    nic_.engine.handle_cq_overflow(now, cq.handle);
}

void ClientSession::push_event(const engine::AsyncEvent& event) {
    rocem_abi_async_event message{};
    EventObject object = EventObject::nic;
    message.type = static_cast<std::uint32_t>(event.type);
    if (event.qp) {
        const SlotOwner owner = nic_.qp_owners.at(event.qp.index);
        const SessionQp* qp = owner.session == this ? qps_.find(owner.slot) : nullptr;
        if (qp == nullptr || !(qp->handle == event.qp)) return;
        object = EventObject::qp;
        message.slot = owner.slot;
        message.epoch = qp->epoch;
    } else if (event.cq) {
        const SlotOwner owner = nic_.cq_owners.at(event.cq.index);
        const SessionCq* cq = owner.session == this ? cqs_.find(owner.slot) : nullptr;
        if (cq == nullptr || !(cq->handle == event.cq)) return;
        object = EventObject::cq;
        message.slot = owner.slot;
        message.epoch = cq->epoch;
    }
    // Behind those that wait, so that they keep their order.
    if (!waiting_events_.empty() ||
        ipc::send_event(resources_.event_socket, &message, sizeof(message)) == ipc::Sent::full) {
        waiting_events_.add(object, message);
    }
}

void ClientSession::send_waiting_events() {
    while (!waiting_events_.empty()) {
        const rocem_abi_async_event& event = waiting_events_.front();
        switch (ipc::send_event(resources_.event_socket, &event, sizeof(event))) {
            case ipc::Sent::yes:
                waiting_events_.pop_front();
                break;
            case ipc::Sent::full:
                return;
            case ipc::Sent::gone:  // the client wants no events
                waiting_events_.clear();
                break;
        }
    }
}

}  // namespace rocem::daemon
