#include "protocol/udp.hpp"
#include "queue_engine/engine_impl.hpp"
#include "queue_engine/qp_transitions.hpp"

namespace rocem::engine {
namespace {

constexpr std::uint8_t timeout_max = 31;
constexpr std::uint8_t retries_max = 7;
constexpr std::uint8_t rnr_timer_max = 31;
constexpr std::uint32_t flow_label_max = 0xfffff;
constexpr std::uint32_t known_access =
    access_local_write | access_remote_write | access_remote_read | access_remote_atomic;

}  // namespace

bool Engine::Impl::values_are_legal(const Qp& qp, const QpAttributes& wanted_values,
                                    std::uint32_t mask) const {
    const QpAttributes& a = wanted_values;
    const auto in_mask = [mask](QpAttrMask bit) { return (mask & bit) != 0; };
    if (in_mask(attr_cur_state) && a.cur_state != qp.state()) return false;
    if (in_mask(attr_pkey_index) && a.pkey_index >= settings.pkey_table.size()) return false;
    if (in_mask(attr_port) && a.port_num != 1) return false;
    if (in_mask(attr_access_flags) && (a.access_flags & ~known_access) != 0) return false;
    if (in_mask(attr_path_mtu) && a.path_mtu > settings.active_mtu) return false;
    if (in_mask(attr_timeout) && a.timeout > timeout_max) return false;
    if (in_mask(attr_retry_cnt) && a.retry_cnt > retries_max) return false;
    if (in_mask(attr_rnr_retry) && a.rnr_retry > retries_max) return false;
    if (in_mask(attr_min_rnr_timer) && a.min_rnr_timer > rnr_timer_max) return false;
    if (in_mask(attr_max_rd_atomic) && a.max_rd_atomic > settings.limits.max_qp_rd_atom) return false;
    if (in_mask(attr_max_dest_rd_atomic) && a.max_dest_rd_atomic > settings.limits.max_qp_rd_atom)
        return false;
    if (in_mask(attr_av)) {
        const AddressVector& av = a.av;
        if (!av.is_global || av.dgid.is_zero() || av.dgid.is_multicast() || av.flow_label > flow_label_max)
            return false;
        if (av.sgid_index >= settings.gid_table.size() || settings.gid_table[av.sgid_index].is_zero())
            return false;
        if (settings.gid_table[av.sgid_index].is_ipv4_mapped() != av.dgid.is_ipv4_mapped()) return false;
    }
    return true;
}

Error Engine::Impl::modify_qp(Time now, QpHandle handle, const QpAttributes& wanted_values,
                              std::uint32_t mask) {
    Qp* qp = qps.find(handle);
    if (qp == nullptr || qp->destroyed) return Error::not_found;
    const QpState from = qp->state();
    const QpState to = (mask & attr_state) != 0 ? wanted_values.state : from;
    if (!transition_is_legal(qp->init.type, from, to, mask)) return Error::invalid;
    if (!values_are_legal(*qp, wanted_values, mask)) return Error::invalid;
    copy_attributes(*qp, wanted_values, mask);
    enter_state(now, *qp, from, to, mask);
    return Error::none;
}

void Engine::Impl::copy_attributes(Qp& qp, const QpAttributes& from, std::uint32_t mask) {
    QpAttributes& to = qp.attributes;
    const auto copy = [mask](QpAttrMask bit, auto& target, const auto& source) {
        if ((mask & bit) != 0) target = source;
    };
    copy(attr_en_sqd_async_notify, to.en_sqd_async_notify, from.en_sqd_async_notify);
    copy(attr_access_flags, to.access_flags, from.access_flags);
    copy(attr_pkey_index, to.pkey_index, from.pkey_index);
    copy(attr_port, to.port_num, from.port_num);
    copy(attr_av, to.av, from.av);
    copy(attr_path_mtu, to.path_mtu, from.path_mtu);
    copy(attr_timeout, to.timeout, from.timeout);
    copy(attr_retry_cnt, to.retry_cnt, from.retry_cnt);
    copy(attr_rnr_retry, to.rnr_retry, from.rnr_retry);
    copy(attr_min_rnr_timer, to.min_rnr_timer, from.min_rnr_timer);
    copy(attr_max_rd_atomic, to.max_rd_atomic, from.max_rd_atomic);
    copy(attr_max_dest_rd_atomic, to.max_dest_rd_atomic, from.max_dest_rd_atomic);
    copy(attr_rq_psn, to.rq_psn, from.rq_psn);
    copy(attr_sq_psn, to.sq_psn, from.sq_psn);
    copy(attr_dest_qpn, to.dest_qpn, from.dest_qpn);
    if ((mask & (attr_av | attr_dest_qpn)) != 0) build_path(qp);
    if ((mask & attr_rq_psn) != 0) {
        qp.responder.expected_psn = from.rq_psn;
        qp.responder.committed_psn = from.rq_psn;
    }
    if ((mask & attr_sq_psn) != 0) {
        qp.requester.oldest_unacked_psn = from.sq_psn;
        qp.requester.never_sent_psn = from.sq_psn;
        qp.requester.left_psn = from.sq_psn;
        qp.requester.next_psn = from.sq_psn;
    }
    // As long as the NIC allows, once: a later change (in SQD) leaves what is under way where it is.
    if ((mask & attr_max_dest_rd_atomic) != 0 && from.max_dest_rd_atomic > 0)
        qp.responder.history.resize(settings.limits.max_qp_rd_atom);
    if ((mask & attr_retry_cnt) != 0) qp.requester.retries_left = from.retry_cnt;
    if ((mask & attr_rnr_retry) != 0) qp.requester.rnr_retries_left = from.rnr_retry;
}

void Engine::Impl::build_path(Qp& qp) {
    const AddressVector& av = qp.attributes.av;
    qp.local_gid = settings.gid_table[av.sgid_index];
    protocol::PathHeaders path;
    path.source_mac = settings.mac;
    path.destination_mac = av.dmac;
    path.source_gid = qp.local_gid;
    path.destination_gid = av.dgid;
    path.traffic_class = av.traffic_class;
    path.hop_limit = av.hop_limit;
    path.flow_label = av.flow_label;
    const std::uint32_t label =
        av.flow_label != 0 ? av.flow_label : protocol::flow_label_of(qp.qpn, qp.attributes.dest_qpn);
    path.udp_source_port = protocol::udp_source_port(label);
    qp.path = protocol::build_template(path);
}

void Engine::Impl::enter_state(Time now, Qp& qp, QpState from, QpState to, std::uint32_t mask) {
    qp.attributes.state = to;
    switch (to) {
        case QpState::reset:
            reset_qp(qp);
            break;
        case QpState::error:
            to_error(qp);
            break;
        case QpState::sqd:
            if (from == QpState::rts) {
                qp.attributes.en_sqd_async_notify =
                    (mask & attr_en_sqd_async_notify) != 0 && qp.attributes.en_sqd_async_notify;
                qp.drain_pending = true;
                drain_if_done(qp);
            }
            break;
        case QpState::rts:
            qp.drain_pending = false;
            arm_timer(now, qp);  // the timeout may have changed
            schedule(qp);
            break;
        default:
            break;
    }
}

void Engine::Impl::reset_qp(Qp& qp) {
    ++qp.life;
    ++qp.completion_life;
    ++qp.requester.epoch;
    while (qp.send_queue.head != no_node)
        release_send_head(qp);
    clear_responder(qp, false);
    while (qp.receive_queue.head != no_node)
        release_receive(take_receive(qp));
    timers.cancel(qp.handle.index);
    qp.drain_pending = false;
    qp.attributes = QpAttributes{};

    // What is built and what is asked for outlives the reset; everything else starts anew.
    const FrameQueue request_frames = qp.requester.frames;
    const FrameQueue response_frames = qp.responder.frames;
    const std::uint32_t request_epoch = qp.requester.epoch;
    const std::uint32_t response_epoch = qp.responder.epoch;
    qp.requester = Requester{};
    qp.responder = Responder{};
    qp.requester.frames = request_frames;
    qp.requester.epoch = request_epoch;
    qp.responder.frames = response_frames;
    qp.responder.epoch = response_epoch;
}

void Engine::Impl::drain_if_done(Qp& qp) {
    if (!qp.drain_pending) return;
    const std::uint32_t head = qp.send_queue.head;
    if (head != no_node && send_wqes[head].started) return;
    qp.drain_pending = false;
    if (qp.attributes.en_sqd_async_notify) raise(EventType::sq_drained, qp);
}

}  // namespace rocem::engine
