// Queue pairs: creating, moving through their states, asking, destroying.
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "client/error.hpp"
#include "client/objects.hpp"
#include "client/raw_enum.hpp"

namespace rocem::client {
namespace {

std::atomic<std::uint32_t>& epoch_of(const Qp& qp) {
    return (*context_of(qp.context).qp_table)[qp.slot].epoch;
}

rocem_abi_qp_caps caps_to_abi(const rocem_qp_cap& cap) {
    rocem_abi_qp_caps caps{};
    caps.max_send_wr = cap.max_send_wr;
    caps.max_recv_wr = cap.max_recv_wr;
    caps.max_send_sge = cap.max_send_sge;
    caps.max_recv_sge = cap.max_recv_sge;
    caps.max_inline_data = cap.max_inline_data;
    return caps;
}

rocem_qp_cap caps_from_abi(const rocem_abi_qp_caps& caps) {
    return {caps.max_send_wr, caps.max_recv_wr, caps.max_send_sge, caps.max_recv_sge, caps.max_inline_data};
}

rocem_abi_qp_attributes attributes_to_abi(const rocem_qp_attr& attr) {
    rocem_abi_qp_attributes abi{};
    const rocem_global_route& route = attr.ah_attr.grh;
    std::memcpy(abi.av.dgid, route.dgid.raw, sizeof(abi.av.dgid));
    abi.av.flow_label = route.flow_label;
    abi.av.sgid_index = route.sgid_index;
    abi.av.hop_limit = route.hop_limit;
    abi.av.traffic_class = route.traffic_class;
    abi.av.sl = attr.ah_attr.sl;
    abi.av.is_global = attr.ah_attr.is_global;
    abi.av.dlid = attr.ah_attr.dlid;
    abi.rq_psn = attr.rq_psn;
    abi.sq_psn = attr.sq_psn;
    abi.dest_qpn = attr.dest_qp_num;
    abi.access_flags = attr.qp_access_flags;
    abi.pkey_index = attr.pkey_index;
    abi.state = static_cast<std::uint8_t>(raw_value(attr.qp_state));
    abi.cur_state = static_cast<std::uint8_t>(raw_value(attr.cur_qp_state));
    abi.path_mtu = static_cast<std::uint8_t>(raw_value(attr.path_mtu));
    abi.en_sqd_async_notify = attr.en_sqd_async_notify;
    abi.max_rd_atomic = attr.max_rd_atomic;
    abi.max_dest_rd_atomic = attr.max_dest_rd_atomic;
    abi.min_rnr_timer = attr.min_rnr_timer;
    abi.port_num = attr.port_num;
    abi.timeout = attr.timeout;
    abi.retry_cnt = attr.retry_cnt;
    abi.rnr_retry = attr.rnr_retry;
    return abi;
}

void attributes_from_abi(const rocem_abi_qp_attributes& abi, rocem_qp_attr& attr) {
    attr = {};
    rocem_global_route& route = attr.ah_attr.grh;
    std::memcpy(route.dgid.raw, abi.av.dgid, sizeof(route.dgid.raw));
    route.flow_label = abi.av.flow_label;
    route.sgid_index = abi.av.sgid_index;
    route.hop_limit = abi.av.hop_limit;
    route.traffic_class = abi.av.traffic_class;
    attr.ah_attr.sl = abi.av.sl;
    attr.ah_attr.is_global = abi.av.is_global;
    attr.ah_attr.dlid = abi.av.dlid;
    attr.ah_attr.port_num = abi.port_num;
    attr.rq_psn = abi.rq_psn;
    attr.sq_psn = abi.sq_psn;
    attr.dest_qp_num = abi.dest_qpn;
    attr.qp_access_flags = abi.access_flags;
    attr.pkey_index = abi.pkey_index;
    set_raw_value(attr.qp_state, abi.state);
    set_raw_value(attr.cur_qp_state, abi.cur_state);
    set_raw_value(attr.path_mtu, abi.path_mtu);
    attr.en_sqd_async_notify = abi.en_sqd_async_notify;
    attr.sq_draining = abi.sq_draining;
    attr.max_rd_atomic = abi.max_rd_atomic;
    attr.max_dest_rd_atomic = abi.max_dest_rd_atomic;
    attr.min_rnr_timer = abi.min_rnr_timer;
    attr.port_num = abi.port_num;
    attr.timeout = abi.timeout;
    attr.retry_cnt = abi.retry_cnt;
    attr.rnr_retry = abi.rnr_retry;
}

// Enumerations are wider here than in a message: what would be cut is refused. 0 or EINVAL.
int check_ranges(const char* call, const rocem_qp_attr& attr, std::uint32_t mask) {
    const unsigned state = raw_value(attr.qp_state);
    const unsigned cur_state = raw_value(attr.cur_qp_state);
    const unsigned path_mtu = raw_value(attr.path_mtu);
    if ((mask & ROCEM_QP_STATE) != 0 && state > ROCEM_QPS_ERR)
        return fail(EINVAL, "%s: qp_state: %u", call, state);
    if ((mask & ROCEM_QP_CUR_STATE) != 0 && cur_state > ROCEM_QPS_ERR) {
        return fail(EINVAL, "%s: cur_qp_state: %u", call, cur_state);
    }
    if ((mask & ROCEM_QP_PATH_MTU) != 0 && (path_mtu < ROCEM_MTU_256 || path_mtu > ROCEM_MTU_4096)) {
        return fail(EINVAL, "%s: path_mtu: %u is no enum rocem_mtu", call, path_mtu);
    }
    return 0;
}

// Maps the rings of a QP that the daemon made. 0 or an errno.
int map_rings(Context& context, Qp& qp, const rocem_abi_create_qp_reply& reply, const ipc::UniqueFd& fd) {
    if (reply.qp_slot >= ROCEM_ABI_QUEUE_SLOTS_MAX || reply.qp_epoch == 0 ||
        !ipc::caps_are_sane(reply.caps)) {
        return EPROTO;
    }
    const ipc::QpLayout layout = ipc::qp_layout(reply.caps);
    std::byte* const object = context.segments.acquire(reply.segment, fd, layout.bytes);
    if (object == nullptr) return errno;
    auto* head = reinterpret_cast<ipc::QpHead*>(object);
    if (layout.send.slots != 0)
        qp.send.ring = ipc::Producer(&head->send, ipc::RingSlots(object, layout.send));
    if (layout.recv.slots != 0)
        qp.recv.ring = ipc::Producer(&head->recv, ipc::RingSlots(object, layout.recv));
    qp.segment_id = reply.segment.segment_id;
    return 0;
}

// A QP that is complete becomes one whose completions and events are told.
void enlist(Context& context, Qp& qp, std::uint32_t epoch) {
    {
        const CqPairLock lock(cq_of(qp.send_cq), cq_of(qp.recv_cq));
        QpEntry& entry = (*context.qp_table)[qp.slot];
        entry.qp = &qp;
        entry.epoch.store(epoch, std::memory_order_relaxed);
    }
    ++pd_of(qp.pd).users;
    ++cq_of(qp.send_cq).users;
    ++cq_of(qp.recv_cq).users;
    const std::lock_guard lock(context.events_mutex);
    context.qps[qp.slot] = &qp;
}

void strike_off(Context& context, Qp& qp) {
    {
        const CqPairLock lock(cq_of(qp.send_cq), cq_of(qp.recv_cq));
        QpEntry& entry = (*context.qp_table)[qp.slot];
        entry.epoch.store(0, std::memory_order_relaxed);
        entry.qp = nullptr;
    }
    --pd_of(qp.pd).users;
    --cq_of(qp.send_cq).users;
    --cq_of(qp.recv_cq).users;
    std::unique_lock lock(context.events_mutex);
    context.qps.erase(qp.slot);
    context.acknowledged.wait(lock, [&qp] { return qp.async_events.told == qp.async_events.acknowledged; });
}

// Every slot is free, and completions from before the RESET are nobody's.
void forget_requests(Qp& qp, std::uint32_t epoch) {
    const CqPairLock cqs(cq_of(qp.send_cq), cq_of(qp.recv_cq));
    epoch_of(qp).store(epoch, std::memory_order_relaxed);
    qp.send.completed.store(qp.send.ring.tail(), std::memory_order_release);
    qp.recv.completed.store(qp.recv.ring.tail(), std::memory_order_release);
}

// What the rings held when the command was made. `state` is what posts see from then on.
void read_producers(Qp& qp, rocem_qp_state state, rocem_abi_modify_qp_request& request) {
    const std::lock_guard send(qp.send.lock);
    const std::lock_guard recv(qp.recv.lock);
    qp.state.store(state, std::memory_order_relaxed);
    request.send_producer = qp.send.ring.tail();
    request.recv_producer = qp.recv.ring.tail();
}

}  // namespace
}  // namespace rocem::client

using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::cq_of;
using rocem::client::fail;
using rocem::client::fail_null;
using rocem::client::pass_null;
using rocem::client::pd_of;
using rocem::client::Qp;
using rocem::client::qp_of;
namespace ipc = rocem::ipc;

rocem_qp* rocem_create_qp(rocem_pd* pd, rocem_qp_init_attr* init_attr) {
    constexpr const char* call = "rocem_create_qp";
    Context& owner = context_of(pd->context);
    if (const int error = owner.connection.status(call); error != 0) return pass_null(error);
    if (init_attr->send_cq == nullptr) return fail_null(EINVAL, "%s: send_cq: none", call);
    if (init_attr->recv_cq == nullptr) return fail_null(EINVAL, "%s: recv_cq: none", call);
    std::unique_ptr<Qp> qp(new (std::nothrow) Qp());
    if (!qp) return fail_null(ENOMEM, "%s: no memory", call);

    rocem_abi_create_qp_request request{};
    request.qp_type = rocem::client::raw_value(init_attr->qp_type);
    request.pd = pd_of(pd).id;
    request.send_cq_slot = cq_of(init_attr->send_cq).slot;
    request.recv_cq_slot = cq_of(init_attr->recv_cq).slot;
    request.sq_sig_all = init_attr->sq_sig_all != 0 ? 1 : 0;
    request.caps = rocem::client::caps_to_abi(init_attr->cap);
    rocem_abi_create_qp_reply reply{};
    rocem::client::Fds fds;
    const int error = owner.connection.ask(call, ipc::MessageType::create_qp, request, reply, fds);
    if (error != 0) return pass_null(error);
    if (const int map_error = rocem::client::map_rings(owner, *qp, reply, fds[0]); map_error != 0) {
        rocem::client::destroy_object(owner, call, ipc::MessageType::destroy_qp, reply.qp_slot,
                                      reply.qp_epoch);
        return fail_null(map_error, "%s: cannot map the QP's rings", call);
    }
    qp->context = pd->context;
    qp->qp_context = init_attr->qp_context;
    qp->pd = pd;
    qp->send_cq = init_attr->send_cq;
    qp->recv_cq = init_attr->recv_cq;
    qp->qp_num = reply.qpn;
    qp->qp_type = init_attr->qp_type;
    qp->slot = reply.qp_slot;
    qp->caps = reply.caps;
    qp->sq_sig_all = init_attr->sq_sig_all != 0;
    init_attr->cap = rocem::client::caps_from_abi(reply.caps);
    rocem::client::enlist(owner, *qp, reply.qp_epoch);
    return qp.release();
}

int rocem_destroy_qp(rocem_qp* qp) {
    constexpr const char* call = "rocem_destroy_qp";
    Context& owner = context_of(qp->context);
    if (owner.connection.forked()) return owner.connection.status(call);
    Qp& self = qp_of(qp);
    const int error = rocem::client::destroy_object(owner, call, ipc::MessageType::destroy_qp, self.slot,
                                                    rocem::client::epoch_of(self));
    if (error != 0) return error;
    rocem::client::strike_off(owner, self);
    owner.segments.release(self.segment_id);
    delete &self;
    return 0;
}

int rocem_modify_qp(rocem_qp* qp, const rocem_qp_attr* attr, uint32_t mask) {
    constexpr const char* call = "rocem_modify_qp";
    Context& owner = context_of(qp->context);
    if (const int error = owner.connection.status(call); error != 0) return error;
    if (const int error = rocem::client::check_ranges(call, *attr, mask); error != 0) return error;
    Qp& self = qp_of(qp);
    const std::lock_guard one_at_a_time(self.modify_mutex);
    const rocem_qp_state before = self.state.load(std::memory_order_relaxed);
    const bool moves = (mask & ROCEM_QP_STATE) != 0;
    const bool resets = moves && attr->qp_state == ROCEM_QPS_RESET;

    rocem_abi_modify_qp_request request{};
    request.qp_slot = self.slot;
    request.qp_epoch = rocem::client::epoch_of(self);
    request.mask = mask;
    request.attributes = rocem::client::attributes_to_abi(*attr);
    // Nothing may be posted behind the index that a RESET empties the rings to.
    rocem::client::read_producers(self, resets ? ROCEM_QPS_RESET : before, request);
    rocem_abi_modify_qp_reply reply{};
    const int error = owner.connection.ask(call, ipc::MessageType::modify_qp, request, reply);
    if (error != 0) {
        self.state.store(before, std::memory_order_relaxed);
        return error;
    }
    if (resets) rocem::client::forget_requests(self, reply.qp_epoch);
    if (moves) self.state.store(attr->qp_state, std::memory_order_relaxed);
    return 0;
}

int rocem_query_qp(rocem_qp* qp, rocem_qp_attr* attr, rocem_qp_init_attr* init_attr) {
    constexpr const char* call = "rocem_query_qp";
    Qp& self = qp_of(qp);
    rocem_abi_object_request request{};
    request.object = self.slot;
    request.epoch = rocem::client::epoch_of(self);
    rocem_abi_query_qp_reply reply{};
    const int error =
        context_of(qp->context).connection.ask(call, ipc::MessageType::query_qp, request, reply);
    if (error != 0) return error;
    if (attr != nullptr) rocem::client::attributes_from_abi(reply.attributes, *attr);
    if (init_attr != nullptr) {
        init_attr->qp_context = self.qp_context;
        init_attr->send_cq = self.send_cq;
        init_attr->recv_cq = self.recv_cq;
        init_attr->cap = rocem::client::caps_from_abi(self.caps);
        init_attr->qp_type = self.qp_type;
        init_attr->sq_sig_all = self.sq_sig_all ? 1 : 0;
    }
    return 0;
}
