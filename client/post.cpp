// The fast path: work requests into the rings, and the worker told.
#include <cerrno>
#include <cstring>
#include <mutex>

#include "client/error.hpp"
#include "client/objects.hpp"
#include "client/raw_enum.hpp"
#include "ipc/dirty_bitmap.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::client {
namespace {

static_assert(sizeof(rocem_sge) == sizeof(ipc::Sge) &&
              offsetof(rocem_sge, length) == offsetof(ipc::Sge, length) &&
              offsetof(rocem_sge, lkey) == offsetof(ipc::Sge, lkey));
static_assert(int{ROCEM_SEND_FENCE} == int{ROCEM_ABI_SEND_FENCE} &&
              int{ROCEM_SEND_SIGNALED} == int{ROCEM_ABI_SEND_SIGNALED} &&
              int{ROCEM_SEND_SOLICITED} == int{ROCEM_ABI_SEND_SOLICITED} &&
              int{ROCEM_SEND_INLINE} == int{ROCEM_ABI_SEND_INLINE});

constexpr std::uint32_t send_flags_known =
    ROCEM_SEND_FENCE | ROCEM_SEND_SIGNALED | ROCEM_SEND_SOLICITED | ROCEM_SEND_INLINE;

bool may_post_send(rocem_qp_state state) {
    return state >= ROCEM_QPS_RTS;
}
bool may_post_recv(rocem_qp_state state) {
    return state != ROCEM_QPS_RESET;
}

bool may_be_inline(rocem_wr_opcode opcode) {
    return opcode <= ROCEM_WR_SEND_WITH_IMM;
}

// Slots that no completion has freed yet, counting `pending` requests that are written but not published.
bool is_full(const SendQueue& queue, std::uint32_t pending, std::uint32_t max_wr) {
    const std::uint32_t used = queue.ring.tail() + pending - queue.completed.load(std::memory_order_acquire);
    return used >= max_wr;
}

// 64 bits: SGEs that sum to 2^32 and more must not look small (style.md, habit 12).
std::uint64_t total_length(const rocem_sge* sges, int count) {
    std::uint64_t total = 0;
    for (int i = 0; i < count; ++i)
        total += sges[i].length;
    return total;
}

int check_sges(const char* call, const rocem_sge* sges, int count, std::uint32_t max_sge) {
    if (count < 0 || static_cast<std::uint32_t>(count) > max_sge) {
        return fail(EINVAL, "%s: num_sge: %d, the queue takes 0 to %u", call, count, max_sge);
    }
    if (count > 0 && sges == nullptr) return fail(EINVAL, "%s: sg_list: none, num_sge is %d", call, count);
    return 0;
}

// 0 or an errno, with words.
int check_send(const Qp& qp, const rocem_send_wr& wr, std::uint64_t max_msg_size) {
    constexpr const char* call = "rocem_post_send";
    const unsigned opcode = raw_value(wr.opcode);
    if (opcode > ROCEM_WR_ATOMIC_FETCH_AND_ADD)
        return fail(EINVAL, "%s: opcode: %u is not supported", call, opcode);
    if ((wr.send_flags & ~send_flags_known) != 0) {
        return fail(EINVAL, "%s: send_flags: 0x%x has unknown bits", call, wr.send_flags);
    }
    // Inline data is gathered into the slot: its SGEs take no room there.
    if (const int error = check_sges(call, wr.sg_list, wr.num_sge, qp.caps.max_send_sge); error != 0)
        return error;
    const std::uint64_t length = total_length(wr.sg_list, wr.num_sge);
    if ((wr.send_flags & ROCEM_SEND_INLINE) != 0) {
        if (!may_be_inline(wr.opcode)) {
            return fail(EINVAL, "%s: send_flags: INLINE is for SEND and WRITE only", call);
        }
        if (length > qp.caps.max_inline_data) {
            return fail(EINVAL, "%s: sg_list: %llu bytes inline, the QP takes %u", call,
                        static_cast<unsigned long long>(length), qp.caps.max_inline_data);
        }
    }
    if (length > max_msg_size) {
        return fail(EINVAL, "%s: sg_list: %llu bytes, a message has at most %llu", call,
                    static_cast<unsigned long long>(length), static_cast<unsigned long long>(max_msg_size));
    }
    return 0;
}

void write_inline(std::byte* to, const rocem_send_wr& wr) {
    for (int i = 0; i < wr.num_sge; ++i) {
        const rocem_sge& sge = wr.sg_list[i];
        if (sge.length == 0) continue;
        std::memcpy(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(sge.addr)), sge.length);
        to += sge.length;
    }
}

void write_send(std::byte* slot, const rocem_send_wr& wr) {
    ipc::SendWqe wqe{};
    wqe.wr_id = wr.wr_id;
    wqe.remote_addr = wr.remote_addr;
    wqe.compare_add = wr.compare_add;
    wqe.swap = wr.swap;
    wqe.rkey = wr.rkey;
    wqe.immediate = wr.immediate;
    wqe.opcode = static_cast<std::uint8_t>(wr.opcode);
    wqe.flags = static_cast<std::uint8_t>(wr.send_flags);
    std::byte* const payload = slot + sizeof(wqe);
    if ((wr.send_flags & ROCEM_SEND_INLINE) != 0) {
        wqe.inline_length = static_cast<std::uint32_t>(total_length(wr.sg_list, wr.num_sge));
        write_inline(payload, wr);
    } else {
        wqe.num_sge = static_cast<std::uint16_t>(wr.num_sge);
        if (wr.num_sge > 0)
            std::memcpy(payload, wr.sg_list, static_cast<std::size_t>(wr.num_sge) * sizeof(ipc::Sge));
    }
    std::memcpy(slot, &wqe, sizeof(wqe));
}

void write_recv(std::byte* slot, const rocem_recv_wr& wr) {
    ipc::RecvWqe wqe{};
    wqe.wr_id = wr.wr_id;
    wqe.num_sge = static_cast<std::uint32_t>(wr.num_sge);
    std::memcpy(slot, &wqe, sizeof(wqe));
    if (wr.num_sge > 0) {
        std::memcpy(slot + sizeof(wqe), wr.sg_list, static_cast<std::size_t>(wr.num_sge) * sizeof(ipc::Sge));
    }
}

// Shows the worker what was written. Under the queue's lock, so that whoever finds the mark of this queue set
// knows that its summary is set, too.
void publish(Context& context, SendQueue& queue, std::uint32_t count, ipc::Bitmap& dirty,
             std::uint32_t slot) {
    if (count == 0) return;
    queue.ring.publish(count);
    ipc::mark(dirty, slot);
    if (ipc::needs_wakeup(context.worker())) ipc::ring_doorbell(context.doorbell.get());
}

}  // namespace
}  // namespace rocem::client

using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::fail;
using rocem::client::Qp;
using rocem::client::qp_of;

int rocem_post_send(rocem_qp* qp, rocem_send_wr* wr, rocem_send_wr** bad_wr) {
    constexpr const char* call = "rocem_post_send";
    Context& context = context_of(qp->context);
    Qp& self = qp_of(qp);
    int error = context.connection.status(call);
    if (error == 0) {
        const std::lock_guard lock(self.send.lock);
        const rocem_qp_state state = self.state.load(std::memory_order_relaxed);
        if (!rocem::client::may_post_send(state)) {
            error = fail(EINVAL, "%s: the QP is in state %d: RTS is wanted", call, static_cast<int>(state));
        }
        std::uint32_t count = 0;
        for (; error == 0 && wr != nullptr; wr = wr->next) {
            error = rocem::client::check_send(self, *wr, context.device.max_msg_size);
            if (error == 0 && rocem::client::is_full(self.send, count, self.caps.max_send_wr)) {
                error = fail(ENOMEM, "%s: all %u requests of the send queue are in use", call,
                             self.caps.max_send_wr);
            }
            if (error != 0) break;
            rocem::client::write_send(self.send.ring.slot(self.send.ring.tail() + count), *wr);
            ++count;
        }
        rocem::client::publish(context, self.send, count, context.session().send_dirty, self.slot);
    }
    if (error != 0 && bad_wr != nullptr) *bad_wr = wr;
    return error;
}

int rocem_post_recv(rocem_qp* qp, rocem_recv_wr* wr, rocem_recv_wr** bad_wr) {
    constexpr const char* call = "rocem_post_recv";
    Context& context = context_of(qp->context);
    Qp& self = qp_of(qp);
    int error = context.connection.status(call);
    if (error == 0) {
        const std::lock_guard lock(self.recv.lock);
        if (!rocem::client::may_post_recv(self.state.load(std::memory_order_relaxed))) {
            error = fail(EINVAL, "%s: the QP is in RESET", call);
        }
        std::uint32_t count = 0;
        for (; error == 0 && wr != nullptr; wr = wr->next) {
            error = rocem::client::check_sges(call, wr->sg_list, wr->num_sge, self.caps.max_recv_sge);
            if (error == 0 && rocem::client::is_full(self.recv, count, self.caps.max_recv_wr)) {
                error = fail(ENOMEM, "%s: all %u requests of the receive queue are in use", call,
                             self.caps.max_recv_wr);
            }
            if (error != 0) break;
            rocem::client::write_recv(self.recv.ring.slot(self.recv.ring.tail() + count), *wr);
            ++count;
        }
        rocem::client::publish(context, self.recv, count, context.session().recv_dirty, self.slot);
    }
    if (error != 0 && bad_wr != nullptr) *bad_wr = wr;
    return error;
}
