#include <algorithm>
#include <cstring>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

using protocol::Opcode;

// PSNs outstanding at once: well inside half the number space, with room for a window of packets behind the
// READ that reaches it.
constexpr std::uint32_t outstanding_psns_max = 1u << 22;

std::uint32_t steps(protocol::Psn from, protocol::Psn to) {
    return (to.value() - from.value()) & protocol::Psn::mask;
}

Opcode message_opcode(WrOpcode opcode, bool first, bool last) {
    const bool immediate =
        opcode == WrOpcode::send_with_immediate || opcode == WrOpcode::rdma_write_with_immediate;
    const bool write = opcode == WrOpcode::rdma_write || opcode == WrOpcode::rdma_write_with_immediate;
    if (first && last) {
        if (write) return immediate ? Opcode::rc_rdma_write_only_with_immediate : Opcode::rc_rdma_write_only;
        return immediate ? Opcode::rc_send_only_with_immediate : Opcode::rc_send_only;
    }
    if (first) return write ? Opcode::rc_rdma_write_first : Opcode::rc_send_first;
    if (!last) return write ? Opcode::rc_rdma_write_middle : Opcode::rc_send_middle;
    if (write) return immediate ? Opcode::rc_rdma_write_last_with_immediate : Opcode::rc_rdma_write_last;
    return immediate ? Opcode::rc_send_last_with_immediate : Opcode::rc_send_last;
}

Opcode request_opcode(const SendWqe& wqe, bool first, bool last) {
    switch (wqe.opcode) {
        case WrOpcode::rdma_read:
            return Opcode::rc_rdma_read_request;
        case WrOpcode::compare_swap:
            return Opcode::rc_compare_swap;
        case WrOpcode::fetch_add:
            return Opcode::rc_fetch_add;
        default:
            return message_opcode(wqe.opcode, first, last);
    }
}

// PSNs that the packet with this number takes: one, or all that a READ request asks for.
std::uint32_t psns_of_packet(const SendWqe& wqe, std::uint32_t packets, std::uint32_t number) {
    if (!wqe.is_read()) return 1;
    return std::min(packets - number, read_request_psns_max - number % read_request_psns_max);
}

}  // namespace

bool Engine::Impl::request_sendable(Time, const Qp& qp) const {
    const Requester& requester = qp.requester;
    if (qp.send_queue.cursor == no_node || requester.rnr_until != never) return false;
    const SendWqe& wqe = send_wqes[qp.send_queue.cursor];
    const bool running = qp.state() == QpState::rts || (qp.state() == QpState::sqd && wqe.started);
    if (!running || wqe.error != WcStatus::success) return false;
    return requester.in_flight < settings.window_packets && !wqe_blocked(qp, wqe);
}

bool Engine::Impl::wqe_blocked(const Qp& qp, const SendWqe& wqe) const {
    const Requester& requester = qp.requester;
    const std::uint32_t number = qp.send_queue.cursor_packet;
    if (number == 0 && wqe.fence && requester.reads_in_flight > 0) return true;
    if (!wqe.awaits_response()) return false;
    // 5.9.8: at most max_rd_atomic outstanding; the queue waits, nothing fails.
    if (!wqe.in_flight && requester.reads_in_flight >= qp.attributes.max_rd_atomic) return true;
    if (wqe.in_flight && wqe.responded < number)
        return true;  // the next part of a long READ waits for this one
    const protocol::Psn first = wqe.started ? wqe.first_psn : requester.next_psn;
    const std::uint32_t packets =
        wqe.started
            ? wqe.packets
            : static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (wqe.length + qp.mtu() - 1) / qp.mtu()));
    return steps(requester.oldest_unacked_psn, first.plus(number)) + psns_of_packet(wqe, packets, number) >
           outstanding_psns_max;
}

bool Engine::Impl::local_access_is_granted(const Qp& qp, const SendWqe& wqe) const {
    const std::uint32_t access = wqe.awaits_response() ? std::uint32_t{access_local_write} : 0u;
    for (std::uint32_t i = 0; i < wqe.sges.count; ++i) {
        const Sge& entry = sge(wqe.sges, i);
        if (entry.length == 0) continue;
        if (!memory.translate(entry.l_key.value(), qp.init.pd, entry.addr, entry.length, access))
            return false;
    }
    return true;
}

std::optional<TxFrame> Engine::Impl::next_request(Time now, Qp& qp, std::span<std::byte> buffer) {
    const std::uint32_t node = qp.send_queue.cursor;
    const std::uint32_t number = qp.send_queue.cursor_packet;
    SendWqe& wqe = send_wqes[node];
    const std::uint32_t mtu = qp.mtu();
    if (!wqe.started) {
        if (!local_access_is_granted(qp, wqe)) {
            fail_wqe(now, qp, node, WcStatus::local_protection_error);
            return std::nullopt;
        }
        wqe.started = true;
        wqe.first_psn = qp.requester.next_psn;
        wqe.packets = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (wqe.length + mtu - 1) / mtu));
        qp.requester.next_psn = wqe.end_psn();
    }
    const std::uint32_t psns = psns_of_packet(wqe, wqe.packets, number);
    const std::uint64_t offset = std::uint64_t{number} * mtu;
    const std::size_t payload = wqe.awaits_response() ? 0 : std::min<std::uint64_t>(wqe.length - offset, mtu);
    Pieces pieces;
    if (payload > 0 && wqe.inline_block == no_node && !gather(qp, wqe.sges, offset, payload, 0, pieces)) {
        fail_wqe(now, qp, node, WcStatus::local_protection_error);
        return std::nullopt;
    }
    protocol::RocePacket roce = request_packet(qp, wqe, number, psns);
    PendingFrame pending;
    pending.role = FrameRole::request;
    pending.wqe = node;
    pending.psns = psns;
    const BuiltFrame built = build_frame(qp, roce, payload, buffer, pending);
    if (payload > 0) {
        if (wqe.inline_block != no_node) {
            std::memcpy(built.payload, &inline_blocks[wqe.inline_block][offset], payload);
        } else {
            read_pieces(qp, pieces, built.frame.id, built.payload);
        }
    }
    account_sent(qp, wqe, psns, roce.bth.ack_request);
    return release_frame(qp, built, FrameRole::request);
}

protocol::RocePacket Engine::Impl::request_packet(Qp& qp, const SendWqe& wqe, std::uint32_t number,
                                                  std::uint32_t psns) {
    const bool last = number + psns == wqe.packets;
    Requester& requester = qp.requester;
    protocol::RocePacket roce;
    roce.info = &protocol::opcode_info(request_opcode(wqe, number == 0, last));
    roce.bth.psn = wqe.first_psn.plus(number);
    roce.bth.solicited_event =
        last && wqe.solicited && !wqe.awaits_response() && wqe.opcode != WrOpcode::rdma_write;
    roce.bth.ack_request = last || wqe.awaits_response() ||
                           requester.since_ack_request + 1 >= settings.ack_request_packets ||
                           requester.in_flight + 1 >= settings.window_packets;
    if (roce.info->has_reth) {
        const std::uint64_t offset = std::uint64_t{number} * qp.mtu();
        roce.reth.va = wqe.remote_addr + offset;
        roce.reth.r_key = wqe.r_key;
        roce.reth.dma_length = static_cast<std::uint32_t>(
            wqe.is_read() ? std::min<std::uint64_t>(wqe.length - offset, std::uint64_t{psns} * qp.mtu())
                          : wqe.length);
    }
    if (roce.info->has_atomic_eth) {
        const bool swaps = wqe.opcode == WrOpcode::compare_swap;
        roce.atomic_eth.va = wqe.remote_addr;
        roce.atomic_eth.r_key = wqe.r_key;
        roce.atomic_eth.swap_or_add = swaps ? wqe.swap : wqe.compare_add;
        roce.atomic_eth.compare = swaps ? wqe.compare_add : 0;
    }
    if (roce.info->has_immdt) roce.immdt.value = wqe.immediate;
    return roce;
}

void Engine::Impl::account_sent(Qp& qp, SendWqe& wqe, std::uint32_t psns, bool ack_request) {
    Requester& requester = qp.requester;
    SendQueue& queue = qp.send_queue;
    requester.since_ack_request = ack_request ? 0 : requester.since_ack_request + 1;
    ++requester.in_flight;
    if (wqe.awaits_response() && !wqe.in_flight) {
        wqe.in_flight = true;
        ++requester.reads_in_flight;
    }
    queue.cursor_packet += psns;
    if (queue.cursor_packet == wqe.packets) {
        queue.cursor = wqe.next;
        queue.cursor_packet = 0;
    }
}

}  // namespace rocem::engine
