#include <algorithm>
#include <cstring>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

constexpr std::uint64_t atomic_bytes = 8;

bool takes_inline(WrOpcode opcode) {
    return opcode == WrOpcode::send || opcode == WrOpcode::send_with_immediate ||
           opcode == WrOpcode::rdma_write || opcode == WrOpcode::rdma_write_with_immediate;
}

std::uint64_t total_length(std::span<const Sge> sges) {
    std::uint64_t total = 0;  // 64 entries of 32 bits cannot overflow 64
    for (const Sge& sge : sges)
        total += sge.length;
    return total;
}

}  // namespace

std::uint32_t Engine::Impl::send_capacity(const Qp& qp) const {
    return std::min(qp.init.cap.max_send_wr, settings.queued_wqes_max);
}

std::uint32_t Engine::Impl::receive_capacity(const Qp& qp) const {
    return std::min(qp.init.cap.max_recv_wr, settings.queued_wqes_max);
}

bool Engine::Impl::sges_fit(std::span<const Sge> sges) const {
    return sges.size() <= sges_in_wqe || sge_blocks.available() > 0;
}

void Engine::Impl::fill_sges(SgeList& list, std::span<const Sge> sges) {
    list.count = static_cast<std::uint32_t>(sges.size());
    const std::size_t own = std::min<std::size_t>(sges.size(), sges_in_wqe);
    std::copy_n(sges.begin(), own, list.own.begin());
    if (sges.size() == own) return;
    list.block = sge_blocks.allocate();
    std::copy(sges.begin() + static_cast<std::ptrdiff_t>(own), sges.end(), sge_blocks[list.block].begin());
}

void Engine::Impl::release_sges(SgeList& list) {
    if (list.block != no_node) sge_blocks.release(list.block);
    list.block = no_node;
}

const Sge& Engine::Impl::sge(const SgeList& list, std::uint32_t index) const {
    return index < sges_in_wqe ? list.own[index] : sge_blocks[list.block][index - sges_in_wqe];
}

Error Engine::Impl::post_send(Time now, QpHandle handle, const SendWr& wr) {
    Qp* qp = qps.find(handle);
    if (qp == nullptr || qp->destroyed) return Error::not_found;
    const QpState state = qp->state();
    if (state == QpState::reset || state == QpState::init || state == QpState::rtr) return Error::invalid;
    if (static_cast<std::uint8_t>(wr.opcode) > static_cast<std::uint8_t>(WrOpcode::fetch_add))
        return Error::invalid;
    if (wr.inline_data) {
        if (!takes_inline(wr.opcode) || wr.inline_bytes.size() > qp->init.cap.max_inline_data)
            return Error::invalid;
    } else if (wr.sges.size() > qp->init.cap.max_send_sge) {
        return Error::invalid;
    }
    if (qp->send_queue.count >= send_capacity(*qp)) return Error::no_memory;
    const bool inline_fits = !wr.inline_data || inline_blocks.available() > 0;
    const std::uint32_t node = sges_fit(wr.sges) && inline_fits ? send_wqes.allocate() : no_node;
    if (node == no_node) {
        want(*qp, true);  // the engine's pools are used up by others: worth another try at any time
        return Error::no_memory;
    }

    SendWqe& wqe = send_wqes[node];
    wqe.wr_id = wr.wr_id;
    wqe.wqe_index = wr.wqe_index;
    wqe.opcode = wr.opcode;
    wqe.signaled = wr.signaled || qp->init.sq_sig_all;
    wqe.solicited = wr.solicited;
    wqe.fence = wr.fence;
    wqe.immediate = wr.immediate;
    wqe.remote_addr = wr.remote_addr;
    wqe.r_key = wr.r_key;
    wqe.compare_add = wr.compare_add;
    wqe.swap = wr.swap;
    if (wr.inline_data) {
        wqe.length = wr.inline_bytes.size();
        if (!wr.inline_bytes.empty()) {
            wqe.inline_block = inline_blocks.allocate();
            std::memcpy(inline_blocks[wqe.inline_block].data(), wr.inline_bytes.data(),
                        wr.inline_bytes.size());
        }
    } else {
        fill_sges(wqe.sges, wr.sges);
        wqe.length = total_length(wr.sges);
    }
    if (wqe.length > settings.limits.max_msg_sz || (wqe.is_atomic() && wqe.length != atomic_bytes)) {
        wqe.error = WcStatus::local_length_error;
    }
    if (state == QpState::error) {
        complete_send(*qp, wqe, WcStatus::flush_error);
        release_sges(wqe.sges);
        if (wqe.inline_block != no_node) inline_blocks.release(wqe.inline_block);
        send_wqes.release(node);
        return Error::none;
    }

    SendQueue& queue = qp->send_queue;
    if (queue.tail == no_node) {
        queue.head = node;
    } else {
        send_wqes[queue.tail].next = node;
    }
    queue.tail = node;
    ++queue.count;
    if (queue.cursor == no_node) {
        queue.cursor = node;
        queue.cursor_packet = 0;
    }
    retire_done(now, *qp);  // one that was wrong from the start may be the oldest
    schedule(*qp);
    return Error::none;
}

Error Engine::Impl::post_recv(QpHandle handle, const RecvWr& wr) {
    Qp* qp = qps.find(handle);
    if (qp == nullptr || qp->destroyed) return Error::not_found;
    if (qp->state() == QpState::reset) return Error::invalid;
    if (wr.sges.size() > qp->init.cap.max_recv_sge) return Error::invalid;
    if (qp->receive_queue.count >= receive_capacity(*qp)) return Error::no_memory;
    const std::uint32_t node = sges_fit(wr.sges) ? recv_wqes.allocate() : no_node;
    if (node == no_node) {
        want(*qp, false);
        return Error::no_memory;
    }

    RecvWqe& wqe = recv_wqes[node];
    wqe.wr_id = wr.wr_id;
    wqe.wqe_index = wr.wqe_index;
    fill_sges(wqe.sges, wr.sges);
    wqe.length = total_length(wr.sges);
    if (qp->state() == QpState::error) {
        complete_receive(*qp, wqe, WcStatus::flush_error, 0);
        release_receive(node);
        return Error::none;
    }
    ReceiveQueue& queue = qp->receive_queue;
    if (queue.tail == no_node) {
        queue.head = node;
    } else {
        recv_wqes[queue.tail].next = node;
    }
    queue.tail = node;
    ++queue.count;
    return Error::none;
}

void Engine::Impl::want(Qp& qp, bool send) {
    (send ? qp.send_wanted : qp.receive_wanted) = true;
    if (qp.wanted_queued) return;
    qp.wanted_queued = true;
    wanted.push(qp.handle);
}

}  // namespace rocem::engine
