#include "daemon/client_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/transition_text.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::daemon {
namespace {

Refusal refuse(int error, std::string text) {
    return {.error = error, .text = std::move(text)};
}

Refusal refuse(engine::Error error, std::string text) {
    return refuse(static_cast<int>(error), std::move(text));
}

Refusal no_such(const char* kind, std::uint32_t number) {
    return refuse(EINVAL, fmt::format("{}: this session has no {} {}", kind, kind, number));
}

std::uint32_t next_epoch(std::vector<std::uint32_t>& epochs, std::uint32_t slot) {
    if (slot >= epochs.size()) epochs.resize(slot + 1);
    return ++epochs[slot];
}

}  // namespace

ClientSession::ClientSession(SessionId id, NicCore& nic, const OpenSession& resources)
    : id_(id),
      nic_(nic),
      resources_(resources),
      pds_(nic.engine.settings().limits.max_pd),
      mrs_(nic.engine.settings().limits.max_mr),
      cqs_(std::min(nic.engine.settings().limits.max_cq, ipc::queue_slots_max)),
      qps_(std::min(nic.engine.settings().limits.max_qp, ipc::queue_slots_max)) {}

void ClientSession::fail(std::string text) {
    if (!violation_) violation_ = std::move(text);
}

SessionQp* ClientSession::find_qp(std::uint32_t slot, std::uint32_t epoch) {
    SessionQp* qp = qps_.find(slot);
    return qp != nullptr && qp->epoch == epoch && !qp->retiring ? qp : nullptr;
}

SessionCq* ClientSession::find_cq(std::uint32_t slot, std::uint32_t epoch) {
    SessionCq* cq = cqs_.find(slot);
    return cq != nullptr && cq->epoch == epoch ? cq : nullptr;
}

// --- protection domains and memory ---

Answer ClientSession::alloc_pd() {
    if (pds_.full()) return refuse(ENOMEM, "pd: max_pd is reached");
    const auto pd = nic_.engine.create_pd();
    if (!pd) return refuse(pd.error(), "pd: the NIC's max_pd is reached");
    return PdMade{.pd = pds_.add(*pd)};
}

Answer ClientSession::dealloc_pd(const DeallocPd& command) {
    const engine::PdHandle* pd = pds_.find(command.pd);
    if (pd == nullptr) return no_such("pd", command.pd);
    const engine::Error error = nic_.engine.destroy_pd(*pd);
    if (error != engine::Error::none) {
        return refuse(error, fmt::format("pd {}: memory regions or queue pairs still use it", command.pd));
    }
    pds_.remove(command.pd);
    return Done{};
}

Answer ClientSession::register_mr(const RegisterMr& command) {
    const engine::PdHandle* pd = pds_.find(command.pd);
    if (pd == nullptr) return no_such("pd", command.pd);
    if (mrs_.full()) return refuse(ENOMEM, "mr: max_mr is reached");
    const std::uint64_t region = nic_.regions.add(
        {.road = &nic_.mapped_road, .base = command.base, .length = command.length, .road_key = 0});
    const auto mr = nic_.engine.register_mr(*pd, {.va = command.va,
                                                  .length = command.length,
                                                  .access = command.access,
                                                  .region = region,
                                                  .requested_key = std::nullopt});
    if (!mr) {
        nic_.regions.remove(region);
        return refuse(mr.error(), mr.error() == engine::Error::no_memory
                                      ? std::string("mr: the NIC's max_mr is reached")
                                      : fmt::format("mr: access {:#x} with va {:#x} and length {} is refused "
                                                    "(remote write and atomic need local write)",
                                                    command.access, command.va, command.length));
    }
    return MrMade{.mr = mrs_.add({.handle = mr->handle, .region = region, .retiring = false}),
                  .l_key = mr->l_key,
                  .r_key = mr->r_key};
}

std::optional<Answer> ClientSession::deregister_mr(const DeregisterMr& command, std::uint32_t request_id) {
    const SessionMr* mr = mrs_.find(command.mr);
    if (mr == nullptr || mr->retiring) return no_such("mr", command.mr);
    const engine::Error error = nic_.engine.deregister_mr(mr->handle);
    if (error != engine::Error::none) return refuse(error, fmt::format("mr {}: still in use", command.mr));
    if (retire_mr(command.mr, request_id)) return Done{};
    return std::nullopt;
}

// --- completion queues ---

Answer ClientSession::create_cq(const CreateCq& command) {
    if (cqs_.full()) return refuse(ENOMEM, "cq: max_cq is reached");
    const auto handle = nic_.engine.create_cq(command.cqe);
    if (!handle)
        return refuse(handle.error(), fmt::format("cqe: {} is refused, or max_cq is reached", command.cqe));
    const ipc::CqLayout layout = ipc::cq_layout(command.cqe);
    auto* const head = reinterpret_cast<ipc::CqHead*>(command.object);
    SessionCq cq;
    cq.handle = *handle;
    cq.head = head;
    cq.ring = ipc::Producer(&head->ring, ipc::RingSlots(command.object, layout.ring));
    cq.channel = command.channel;
    cq.epoch = next_epoch(cq_epochs_, cqs_.next_slot());
    const std::uint32_t epoch = cq.epoch;
    const std::uint32_t slot = cqs_.add(cq);
    nic_.cq_owners.set(handle->index, {.session = this, .slot = slot});
    return CqMade{.slot = slot, .epoch = epoch};
}

Answer ClientSession::destroy_cq(const DestroyCq& command) {
    const SessionCq* cq = find_cq(command.slot, command.epoch);
    if (cq == nullptr) return no_such("cq", command.slot);
    const engine::Error error = nic_.engine.destroy_cq(cq->handle);
    if (error != engine::Error::none) {
        return refuse(error, fmt::format("cq {}: queue pairs still use it", command.slot));
    }
    nic_.cq_owners.clear(cq->handle.index);
    std::erase(unpublished_cqs_, command.slot);
    waiting_events_.forget(EventObject::cq, command.slot);
    cqs_.remove(command.slot);
    return Done{};
}

// --- queue pairs ---

Answer ClientSession::create_qp(const CreateQp& command) {
    const engine::PdHandle* pd = pds_.find(command.pd);
    if (pd == nullptr) return no_such("pd", command.pd);
    const SessionCq* send_cq = cqs_.find(command.send_cq_slot);
    if (send_cq == nullptr) return no_such("cq", command.send_cq_slot);
    const SessionCq* recv_cq = cqs_.find(command.recv_cq_slot);
    if (recv_cq == nullptr) return no_such("cq", command.recv_cq_slot);
    if (qps_.full()) return refuse(ENOMEM, "qp: max_qp is reached");

    SessionQp qp;
    qp.caps = command.caps;
    qp.limits = {.max_send_wr = command.caps.max_send_wr,
                 .max_recv_wr = command.caps.max_recv_wr,
                 .max_send_sge = command.caps.max_send_sge,
                 .max_recv_sge = command.caps.max_recv_sge,
                 .max_inline_data = command.caps.max_inline_data};
    qp.sq_sig_all = command.sq_sig_all;
    engine::QpInit init;
    init.pd = *pd;
    init.send_cq = send_cq->handle;
    init.recv_cq = recv_cq->handle;
    init.cap = qp.limits;
    init.sq_sig_all = command.sq_sig_all;
    init.owner = id_;
    const auto made = nic_.engine.create_qp(init);
    if (!made)
        return refuse(made.error(), "qp: the NIC's max_qp is reached, or a capability is above its limit");
    qp.handle = made->handle;
    qp.qpn = made->qpn;

    const ipc::QpLayout layout = ipc::qp_layout(command.caps);
    auto* const head = reinterpret_cast<ipc::QpHead*>(command.object);
    if (layout.send.slots != 0) qp.send.emplace(&head->send, ipc::RingSlots(command.object, layout.send));
    if (layout.recv.slots != 0) qp.recv.emplace(&head->recv, ipc::RingSlots(command.object, layout.recv));
    qp.epoch = next_epoch(qp_epochs_, qps_.next_slot());
    const std::uint32_t epoch = qp.epoch;
    const std::uint32_t slot = qps_.add(std::move(qp));
    nic_.qp_owners.set(made->handle.index, {.session = this, .slot = slot});
    return QpMade{.slot = slot, .epoch = epoch, .qpn = made->qpn};
}

Answer ClientSession::modify_qp(engine::Time now, const ModifyQp& command) {
    SessionQp* qp = find_qp(command.slot, command.epoch);
    if (qp == nullptr) return no_such("qp", command.slot);
    // Decision 7: what was posted before the command is seen before it.
    if (!consume_until(now, *qp, command)) return refuse(EIO, *violation_);
    const engine::Error error = nic_.engine.modify_qp(now, qp->handle, command.attributes, command.mask);
    if (error != engine::Error::none) {
        const auto current = nic_.engine.query_qp(qp->handle);
        const engine::QpState from = current ? current->state : engine::QpState::reset;
        return refuse(error, explain_refusal(engine::QpType::rc, from, command.attributes, command.mask));
    }
    const auto changed = nic_.engine.query_qp(qp->handle);
    const engine::QpState state = changed ? changed->state : engine::QpState::error;
    if ((command.mask & engine::attr_state) != 0 && command.attributes.state == engine::QpState::reset) {
        reset_rings(*qp, command, command.slot);
    }
    return QpModified{.epoch = qp->epoch, .state = state};
}

Answer ClientSession::query_qp(const QueryQp& command) const {
    const SessionQp* qp = qps_.find(command.slot);
    if (qp == nullptr || qp->epoch != command.epoch || qp->retiring) return no_such("qp", command.slot);
    const auto attributes = nic_.engine.query_qp(qp->handle);
    if (!attributes)
        return refuse(attributes.error(), fmt::format("qp {}: is being destroyed", command.slot));
    return QpQueried{.attributes = *attributes, .caps = qp->caps, .sq_sig_all = qp->sq_sig_all};
}

std::optional<Answer> ClientSession::destroy_qp(const DestroyQp& command, std::uint32_t request_id) {
    const SessionQp* qp = find_qp(command.slot, command.epoch);
    if (qp == nullptr) return no_such("qp", command.slot);
    const engine::Error error = nic_.engine.destroy_qp(qp->handle);
    if (error != engine::Error::none) return refuse(error, fmt::format("qp {}: still in use", command.slot));
    if (retire_qp(command.slot, request_id)) return Done{};
    return std::nullopt;
}

void ClientSession::list_qps(NicIndex nic, std::vector<QpFacts>& facts) {
    qps_.for_each([&](std::uint32_t, SessionQp& qp) {
        if (const auto attributes = nic_.engine.query_qp(qp.handle)) {
            facts.push_back({.nic = nic, .session = id_, .qpn = qp.qpn, .attributes = *attributes});
        }
    });
}

// --- objects on their way out ---

bool ClientSession::retire_qp(std::uint32_t slot, std::optional<std::uint32_t> request_id) {
    SessionQp& qp = *qps_.find(slot);
    qp.retiring = true;
    nic_.qp_owners.clear(qp.handle.index);
    waiting_events_.forget(EventObject::qp, slot);
    const Retiring object{.is_qp = true, .slot = slot, .request_id = request_id};
    if (free_if_gone(object)) return true;
    retiring_.push_back(object);
    return false;
}

bool ClientSession::retire_mr(std::uint32_t slot, std::optional<std::uint32_t> request_id) {
    mrs_.find(slot)->retiring = true;
    const Retiring object{.is_qp = false, .slot = slot, .request_id = request_id};
    if (free_if_gone(object)) return true;
    retiring_.push_back(object);
    return false;
}

bool ClientSession::free_if_gone(const Retiring& object) {
    if (object.is_qp) {
        if (nic_.engine.exists(qps_.find(object.slot)->handle)) return false;
        qps_.remove(object.slot);
        return true;
    }
    const SessionMr& mr = *mrs_.find(object.slot);
    if (nic_.engine.exists(mr.handle)) return false;
    nic_.regions.remove(mr.region);
    mrs_.remove(object.slot);
    return true;
}

void ClientSession::poll_retired(std::vector<WorkerAnswer>& answers) {
    std::erase_if(retiring_, [&](const Retiring& object) {
        if (!free_if_gone(object)) return false;
        if (object.request_id) {
            answers.push_back({.session = id_, .request_id = *object.request_id, .answer = Done{}});
        }
        return true;
    });
    if (closing_ && retiring_.empty()) close();
}

void ClientSession::close() {
    closing_ = true;
    qps_.for_each([&](std::uint32_t slot, SessionQp& qp) {
        if (qp.retiring) return;
        nic_.engine.destroy_qp(qp.handle);
        retire_qp(slot, std::nullopt);
    });
    mrs_.for_each([&](std::uint32_t slot, SessionMr& mr) {
        if (mr.retiring) return;
        nic_.engine.deregister_mr(mr.handle);
        retire_mr(slot, std::nullopt);
    });
    unpublished_cqs_.clear();
    waiting_events_.clear();
    cqs_.for_each([&](std::uint32_t slot, SessionCq& cq) {
        if (nic_.engine.destroy_cq(cq.handle) != engine::Error::none) return;
        nic_.cq_owners.clear(cq.handle.index);
        cqs_.remove(slot);
    });
    pds_.for_each([&](std::uint32_t slot, engine::PdHandle& pd) {
        if (nic_.engine.destroy_pd(pd) == engine::Error::none) pds_.remove(slot);
    });
}

}  // namespace rocem::daemon
