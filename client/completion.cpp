// Completion queues: creating, polling, arming.
#include <cerrno>
#include <functional>
#include <memory>
#include <new>

#include "client/error.hpp"
#include "client/objects.hpp"
#include "client/raw_enum.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::client {
namespace {

// How many polls in a row may find nothing before one looks whether the daemon still lives: a system call in
// so many.
constexpr std::uint32_t idle_polls_per_probe = 256;

// The completion as the program sees it; false if its QP is gone, or has been through RESET since.
bool deliver(Context& context, const ipc::Cqe& cqe, rocem_wc& wc) {
    if (cqe.qp_slot >= ROCEM_ABI_QUEUE_SLOTS_MAX || cqe.qp_epoch == 0) return false;
    QpEntry& entry = (*context.qp_table)[cqe.qp_slot];
    if (entry.epoch.load(std::memory_order_relaxed) != cqe.qp_epoch) return false;
    SendQueue& queue = cqe.opcode >= ROCEM_WC_RECV ? entry.qp->recv : entry.qp->send;
    queue.completed.store(cqe.wqe_index + 1, std::memory_order_release);

    wc.wr_id = cqe.wr_id;
    set_raw_value(wc.status, cqe.status);
    set_raw_value(wc.opcode, cqe.opcode);
    wc.byte_len = cqe.byte_len;
    wc.immediate = cqe.immediate;
    wc.qp_num = cqe.qpn;
    wc.wc_flags = (cqe.flags & ROCEM_ABI_CQE_WITH_IMMEDIATE) != 0 ? std::uint32_t{ROCEM_WC_WITH_IMM} : 0;
    return true;
}

// Under the CQ's lock. A count, or -EPROTO.
int take_completions(Context& context, Cq& cq, int entries, rocem_wc* wc) {
    // seq_cst: after an arm, either this sees a completion or the worker sees the arm.
    const std::optional<std::uint32_t> available = cq.ring.available(std::memory_order_seq_cst);
    if (!available) return -EPROTO;
    int taken = 0;
    std::uint32_t left = *available;
    for (; left > 0 && taken < entries; --left) {
        ipc::Cqe cqe;
        cq.ring.copy_next(&cqe, sizeof(cqe));
        cq.ring.take(1);
        if (deliver(context, cqe, wc[taken])) ++taken;
    }
    if (left != *available) cq.ring.give_back();
    return taken;
}

int poll_locked(Context& context, Cq& cq, int entries, rocem_wc* wc) {
    const int taken = take_completions(context, cq, entries, wc);
    if (taken > 0) {
        cq.idle_polls = 0;
        return taken;
    }
    if (taken < 0) {
        context.connection.mark_gone();
        return -fail(EIO, "rocem_poll_cq: the daemon's producer index is outside the ring");
    }
    if (entries == 0 || (!context.connection.gone() && ++cq.idle_polls < idle_polls_per_probe)) return 0;
    cq.idle_polls = 0;
    if (!context.connection.probe_gone()) return 0;
    // It may have completed something before it went.
    const int last = take_completions(context, cq, entries, wc);
    return last > 0 ? last : -fail(EIO, "rocem_poll_cq: the daemon is gone");
}

}  // namespace

CqPairLock::CqPairLock(Cq& a, Cq& b) : first_(&a), second_(&a == &b ? nullptr : &b) {
    if (second_ != nullptr && std::less<>()(second_, first_)) std::swap(first_, second_);
    first_->lock.lock();
    if (second_ != nullptr) second_->lock.lock();
}

CqPairLock::~CqPairLock() {
    if (second_ != nullptr) second_->lock.unlock();
    first_->lock.unlock();
}

}  // namespace rocem::client

using rocem::client::Channel;
using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::Cq;
using rocem::client::cq_of;
using rocem::client::fail;
using rocem::client::fail_null;
using rocem::client::pass_null;
namespace ipc = rocem::ipc;

rocem_cq* rocem_create_cq(rocem_context* context, uint32_t cqe, void* cq_context, rocem_comp_channel* channel,
                          uint32_t comp_vector) {
    constexpr const char* call = "rocem_create_cq";
    Context& owner = context_of(context);
    std::unique_ptr<Cq> cq(new (std::nothrow) Cq());
    if (!cq) return fail_null(ENOMEM, "%s: no memory", call);
    rocem_abi_create_cq_request request{};
    request.cqe = cqe;
    request.comp_vector = comp_vector;
    request.channel = channel == nullptr ? 0 : static_cast<Channel*>(channel)->id;
    rocem_abi_create_cq_reply reply{};
    rocem::client::Fds fds;
    const int error = owner.connection.ask(call, ipc::MessageType::create_cq, request, reply, fds);
    if (error != 0) return pass_null(error);

    std::byte* object = nullptr;
    ipc::CqLayout layout;
    errno = EPROTO;
    if (reply.cqe >= 1 && reply.cqe <= ipc::cqe_max && reply.cq_slot < ROCEM_ABI_QUEUE_SLOTS_MAX) {
        layout = ipc::cq_layout(reply.cqe);
        object = owner.segments.acquire(reply.segment, fds[0], layout.bytes);
    }
    if (object == nullptr) {
        const int map_error = errno;
        rocem::client::destroy_object(owner, call, ipc::MessageType::destroy_cq, reply.cq_slot,
                                      reply.cq_epoch);
        return fail_null(map_error, "%s: cannot map the CQ", call);
    }
    cq->context = context;
    cq->channel = channel;
    cq->cq_context = cq_context;
    cq->cqe = reply.cqe;
    cq->slot = reply.cq_slot;
    cq->epoch = reply.cq_epoch;
    cq->segment_id = reply.segment.segment_id;
    cq->head = reinterpret_cast<ipc::CqHead*>(object);
    cq->ring = ipc::UntrustedConsumer(&cq->head->ring, ipc::RingSlots(object, layout.ring));
    if (channel != nullptr) ++static_cast<Channel*>(channel)->users;
    ++owner.users;
    const std::lock_guard lock(owner.events_mutex);
    owner.cqs[cq->slot] = cq.get();
    return cq.release();
}

int rocem_destroy_cq(rocem_cq* cq) {
    constexpr const char* call = "rocem_destroy_cq";
    Context& owner = context_of(cq->context);
    if (owner.connection.forked()) return owner.connection.status(call);
    Cq& self = cq_of(cq);
    if (self.users != 0) return fail(EBUSY, "%s: %u queues of QPs still use the CQ", call, self.users.load());
    const int error =
        rocem::client::destroy_object(owner, call, ipc::MessageType::destroy_cq, self.slot, self.epoch);
    if (error != 0) return error;
    {
        std::unique_lock lock(owner.events_mutex);
        owner.cqs.erase(self.slot);
        owner.acknowledged.wait(lock, [&self] {
            return self.completion_events.told == self.completion_events.acknowledged &&
                   self.async_events.told == self.async_events.acknowledged;
        });
    }
    owner.segments.release(self.segment_id);
    if (self.channel != nullptr) --static_cast<Channel*>(self.channel)->users;
    --owner.users;
    delete &self;
    return 0;
}

int rocem_poll_cq(rocem_cq* cq, int entries, rocem_wc* wc) {
    Context& owner = context_of(cq->context);
    if (owner.connection.forked()) return -owner.connection.status("rocem_poll_cq");
    if (entries < 0) return -fail(EINVAL, "rocem_poll_cq: entries: %d", entries);
    Cq& self = cq_of(cq);
    const std::lock_guard lock(self.lock);
    return rocem::client::poll_locked(owner, self, entries, wc);
}

int rocem_req_notify_cq(rocem_cq* cq, int solicited_only) {
    constexpr const char* call = "rocem_req_notify_cq";
    Context& owner = context_of(cq->context);
    if (const int error = owner.connection.status(call); error != 0) return error;
    if (cq->channel == nullptr) return fail(EINVAL, "%s: the CQ has no channel", call);
    ipc::arm_cq(*cq_of(cq).head, solicited_only != 0 ? ROCEM_ABI_ARM_SOLICITED : ROCEM_ABI_ARM_ANY);
    return 0;
}

const char* rocem_wc_status_str(rocem_wc_status status) {
    switch (rocem::client::raw_value(status)) {
        case ROCEM_WC_SUCCESS:
            return "success";
        case ROCEM_WC_LOC_LEN_ERR:
            return "local length error";
        case ROCEM_WC_LOC_QP_OP_ERR:
            return "local QP operation error";
        case ROCEM_WC_LOC_PROT_ERR:
            return "local protection error";
        case ROCEM_WC_WR_FLUSH_ERR:
            return "work request flushed";
        case ROCEM_WC_BAD_RESP_ERR:
            return "bad response";
        case ROCEM_WC_LOC_ACCESS_ERR:
            return "local access error";
        case ROCEM_WC_REM_INV_REQ_ERR:
            return "remote invalid request error";
        case ROCEM_WC_REM_ACCESS_ERR:
            return "remote access error";
        case ROCEM_WC_REM_OP_ERR:
            return "remote operation error";
        case ROCEM_WC_RETRY_EXC_ERR:
            return "transport retry counter exceeded";
        case ROCEM_WC_RNR_RETRY_EXC_ERR:
            return "RNR retry counter exceeded";
        case ROCEM_WC_FATAL_ERR:
            return "fatal error";
        case ROCEM_WC_GENERAL_ERR:
            return "general error";
    }
    return "unknown status";
}
