// From a client's rings into the engine (decisions 1, 7 and 9).
#include <fmt/format.h>

#include <algorithm>

#include "daemon/client_session.hpp"

namespace rocem::daemon {
namespace {

// Entries of one queue per turn; what is left is marked again, so that other queues get their turn.
constexpr std::uint32_t entries_per_turn = 256;

}  // namespace

bool ClientSession::has_posts() const {
    return ipc::any_marked(resources_.segment->recv_dirty) || ipc::any_marked(resources_.segment->send_dirty);
}

bool ClientSession::drain_receives(engine::Time) {
    bool any = false;
    ipc::take_marked(resources_.segment->recv_dirty, [&](std::uint32_t slot) {
        SessionQp* qp = qps_.find(slot);
        if (qp == nullptr || violation_) return;
        any = drain_recv_ring(*qp, entries_per_turn) || any;
        if (qp->recv && qp->recv->available().value_or(0) > 0 && nic_.engine.receive_room(qp->handle) > 0) {
            ipc::mark(resources_.segment->recv_dirty, slot);
        }
    });
    return any;
}

bool ClientSession::drain_sends(engine::Time now) {
    bool any = false;
    ipc::take_marked(resources_.segment->send_dirty, [&](std::uint32_t slot) {
        SessionQp* qp = qps_.find(slot);
        if (qp == nullptr || violation_) return;
        any = drain_send_ring(now, *qp, entries_per_turn) || any;
        // The engine says when a full queue has room (poll_wanted); what only the turn's limit left comes
        // back here.
        if (qp->send && qp->send->available().value_or(0) > 0 && nic_.engine.send_room(qp->handle) > 0) {
            ipc::mark(resources_.segment->send_dirty, slot);
        }
    });
    return any;
}

void ClientSession::drain_queue(engine::Time now, std::uint32_t qp_slot, bool send, bool receive) {
    SessionQp* qp = qps_.find(qp_slot);
    if (qp == nullptr || violation_) return;
    if (receive) drain_recv_ring(*qp, UINT32_MAX);
    if (send && !violation_) drain_send_ring(now, *qp, UINT32_MAX);
}

bool ClientSession::drain_send_ring(engine::Time now, SessionQp& qp, std::uint32_t limit) {
    if (!qp.send) return false;
    const auto available = qp.send->available();
    if (!available) {
        fail(fmt::format("QP {:#x}: send producer index outside its window", qp.qpn.value()));
        return false;
    }
    const std::uint32_t count = std::min({*available, limit, nic_.engine.send_room(qp.handle)});
    std::uint32_t taken = 0;
    for (; taken < count; ++taken) {
        const std::uint32_t index = qp.send->head();
        const auto wr = read_send_wqe(qp.send->slot(index), index, qp.limits, scratch_);
        if (!wr) {
            fail(fmt::format("QP {:#x}, send {}: {}", qp.qpn.value(), index, sentence(wr.error())));
            break;
        }
        const engine::Error error = nic_.engine.post_send(now, qp.handle, *wr);
        if (error == engine::Error::no_memory) break;
        if (error != engine::Error::none) {
            fail(fmt::format(
                "QP {:#x}, send {}: not allowed in the QP's state, or its length is above max_msg_size",
                qp.qpn.value(), index));
            break;
        }
        qp.send->take(1);
    }
    if (taken > 0) qp.send->give_back();
    return taken > 0;
}

bool ClientSession::drain_recv_ring(SessionQp& qp, std::uint32_t limit) {
    if (!qp.recv) return false;
    const auto available = qp.recv->available();
    if (!available) {
        fail(fmt::format("QP {:#x}: receive producer index outside its window", qp.qpn.value()));
        return false;
    }
    const std::uint32_t count = std::min({*available, limit, nic_.engine.receive_room(qp.handle)});
    std::uint32_t taken = 0;
    for (; taken < count; ++taken) {
        const std::uint32_t index = qp.recv->head();
        const auto wr = read_recv_wqe(qp.recv->slot(index), index, qp.limits, scratch_);
        if (!wr) {
            fail(fmt::format("QP {:#x}, receive {}: {}", qp.qpn.value(), index, sentence(wr.error())));
            break;
        }
        const engine::Error error = nic_.engine.post_recv(qp.handle, *wr);
        if (error == engine::Error::no_memory) break;
        if (error != engine::Error::none) {
            fail(fmt::format("QP {:#x}, receive {}: not allowed in the QP's state", qp.qpn.value(), index));
            break;
        }
        qp.recv->take(1);
    }
    if (taken > 0) qp.recv->give_back();
    return taken > 0;
}

// False: an index of the command is a violation. What the engine has no room for stays in the ring, and is
// taken in the new state.
bool ClientSession::consume_until(engine::Time now, SessionQp& qp, const ModifyQp& command) {
    const auto sends = qp.send ? qp.send->within(command.send_producer) : std::optional<std::uint32_t>(0);
    const auto receives = qp.recv ? qp.recv->within(command.recv_producer) : std::optional<std::uint32_t>(0);
    if (!sends || !receives) {
        fail(fmt::format("QP {:#x}: modify_qp with a producer index outside its window", qp.qpn.value()));
        return false;
    }
    const auto current = nic_.engine.query_qp(qp.handle);
    const bool takes_posts = current && current->state != engine::QpState::reset;
    const bool to_reset =
        (command.mask & engine::attr_state) != 0 && command.attributes.state == engine::QpState::reset;
    if (takes_posts && !to_reset) {
        drain_recv_ring(qp, *receives);
        if (!violation_) drain_send_ring(now, qp, *sends);
    }
    return !violation_;
}

// The client empties its side to the same indices. Entries of the old epoch never come back.
void ClientSession::reset_rings(SessionQp& qp, const ModifyQp& command, std::uint32_t slot) {
    if (qp.send) {
        qp.send->take(command.send_producer - qp.send->head());
        qp.send->give_back();
    }
    if (qp.recv) {
        qp.recv->take(command.recv_producer - qp.recv->head());
        qp.recv->give_back();
    }
    qp.epoch = ++qp_epochs_[slot];
    waiting_events_.forget(EventObject::qp, slot);
}

}  // namespace rocem::daemon
