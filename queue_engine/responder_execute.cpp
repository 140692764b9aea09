#include <utility>

#include "queue_engine/engine_impl.hpp"
#include "queue_engine/responder_checks.hpp"

namespace rocem::engine {
namespace {

using protocol::NakCode;
using protocol::Operation;

constexpr std::uint32_t atomic_bytes = 8;

}  // namespace

// Where the bytes go, or come from: the receive's capacity, RETH's length and key. Then the request is
// carried out.
PacketResult Engine::Impl::place_and_execute(Qp& qp, const protocol::RocePacket& roce, RxToken token) {
    Pieces pieces;
    PacketResult placed;
    switch (roce.info->operation) {
        case Operation::send:
            placed = place_send(qp, roce, pieces);
            break;
        case Operation::rdma_write:
            placed = place_write(qp, roce, pieces);
            break;
        default:
            placed = place_read_or_atomic(qp, roce, pieces);
            break;
    }
    if (placed.outcome != PacketOutcome::accepted) return placed;

    ReceivedPacket packet;
    packet.psn = roce.bth.psn;
    packet.psn_count = psns_of_request(roce, qp.mtu());
    packet.ack_request = roce.bth.ack_request;
    packet.ends_message = roce.info->ends_message();
    qp.responder.expected_psn = packet.psn.plus(packet.psn_count);
    if (is_read_or_atomic(*roce.info)) {
        execute_read_or_atomic(qp, roce, token, pieces, packet);
    } else {
        execute_data(qp, roce, token, pieces, packet);
    }
    commit_ready(qp);
    return placed;
}

PacketResult Engine::Impl::place_send(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces) {
    Responder& responder = qp.responder;
    // A multi-packet SEND takes its receive with its first packet (5.8.4).
    if (roce.info->starts_message()) {
        responder.receive = take_receive(qp);
        responder.received_bytes = 0;
    }
    const RecvWqe& receive = recv_wqes[responder.receive];
    const std::uint64_t bytes = roce.payload.size();
    if (responder.received_bytes + bytes > receive.length) {
        return refuse(qp, roce.bth.psn, NakCode::invalid_request, WcStatus::local_length_error);
    }
    if (!gather(qp, receive.sges, responder.received_bytes, bytes, access_local_write, pieces)) {
        return refuse(qp, roce.bth.psn, NakCode::remote_operational_error, WcStatus::local_protection_error);
    }
    return {};
}

PacketResult Engine::Impl::place_write(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces) {
    Responder& responder = qp.responder;
    const bool starts = roce.info->starts_message();
    if (starts) {
        responder.received_bytes = 0;
        responder.r_key = roce.reth.r_key;
        responder.va = roce.reth.va;
        responder.dma_length = roce.reth.dma_length;
    }
    const std::uint64_t bytes = roce.payload.size();
    const std::uint64_t end = responder.received_bytes + bytes;
    const bool length_is_right =
        roce.info->ends_message() ? end == responder.dma_length : end < responder.dma_length;
    if (!length_is_right) return refuse(qp, roce.bth.psn, NakCode::invalid_request);
    // The whole message must fit from its first packet on; each packet looks again, for a key may go
    // meanwhile. C9-88: a WRITE of nothing checks no key.
    const std::uint64_t checked = starts ? responder.dma_length : bytes;
    if (checked == 0) return {};
    if (!translate_remote(qp, responder.r_key, responder.va + responder.received_bytes, checked,
                          access_remote_write, pieces)) {
        return refuse(qp, roce.bth.psn, NakCode::remote_access_error);
    }
    pieces.items[0].length = static_cast<std::uint32_t>(bytes);
    return {};
}

PacketResult Engine::Impl::place_read_or_atomic(Qp& qp, const protocol::RocePacket& roce, Pieces& pieces) {
    const bool is_read = roce.info->operation == Operation::rdma_read_request;
    if (!is_read && roce.atomic_eth.va % atomic_bytes != 0) {
        return refuse(qp, roce.bth.psn, NakCode::invalid_request);
    }
    if (is_read && roce.reth.dma_length == 0) return {};  // C9-88
    const bool granted = is_read ? translate_remote(qp, roce.reth.r_key, roce.reth.va, roce.reth.dma_length,
                                                    access_remote_read, pieces)
                                 : translate_remote(qp, roce.atomic_eth.r_key, roce.atomic_eth.va,
                                                    atomic_bytes, access_remote_atomic, pieces);
    return granted ? PacketResult{} : refuse(qp, roce.bth.psn, NakCode::remote_access_error);
}

bool Engine::Impl::translate_remote(const Qp& qp, protocol::RKey key, std::uint64_t va, std::uint64_t length,
                                    std::uint32_t access, Pieces& pieces) const {
    const auto at = memory.translate(key.value(), qp.init.pd, va, length, access);
    if (!at) return false;
    pieces.items[0] = {*at, 0};
    pieces.count = 1;
    return true;
}

void Engine::Impl::execute_data(Qp& qp, const protocol::RocePacket& roce, RxToken token, const Pieces& pieces,
                                ReceivedPacket& packet) {
    Responder& responder = qp.responder;
    const protocol::OpcodeInfo& info = *roce.info;
    const bool is_send = info.operation == Operation::send;
    if (info.starts_message()) responder.incoming = is_send ? IncomingMessage::send : IncomingMessage::write;
    responder.received_bytes += roce.payload.size();
    packet.into_receive = is_send;
    if (info.ends_message()) {
        responder.incoming = IncomingMessage::none;
        packet.completes_receive = is_send || info.has_immdt;
        packet.with_immediate = info.has_immdt;
        packet.immediate = roce.immdt.value;
        packet.solicited = roce.bth.solicited_event;
        packet.byte_len = static_cast<std::uint32_t>(responder.received_bytes);
        if (packet.completes_receive) {
            packet.receive = is_send ? std::exchange(responder.receive, no_node) : take_receive(qp);
        }
    }
    const std::uint32_t node = append_received(qp, packet);
    if (roce.payload.empty()) return;
    received_packets[node].dma_pending =
        write_pieces(qp, pieces, roce.payload, token, info.ends_message(), DmaPurpose::request_data, node);
}

void Engine::Impl::execute_read_or_atomic(Qp& qp, const protocol::RocePacket& roce, RxToken token,
                                          const Pieces& pieces, ReceivedPacket& packet) {
    Responder& responder = qp.responder;
    const bool is_read = roce.info->operation == Operation::rdma_read_request;
    packet.kind = is_read ? ReceivedPacket::Kind::read : ReceivedPacket::Kind::atomic;
    packet.history = responder.history_next;
    responder.history_next =
        (responder.history_next + 1) % static_cast<std::uint32_t>(responder.history.size());
    ++responder.reads_in_progress;

    ReadAtomicRecord& record = responder.history[packet.history];
    record = ReadAtomicRecord{};
    record.valid = true;
    record.is_atomic = !is_read;
    record.psn = packet.psn;
    record.psn_count = packet.psn_count;
    record.r_key = is_read ? roce.reth.r_key : roce.atomic_eth.r_key;
    record.va = is_read ? roce.reth.va : roce.atomic_eth.va;
    record.length = is_read ? roce.reth.dma_length : 0;
    record.swap_or_add = roce.atomic_eth.swap_or_add;
    record.compare = roce.atomic_eth.compare;
    record.swaps = roce.info->operation == Operation::compare_swap;

    const std::uint32_t node = append_received(qp, packet);
    if (is_read) return;
    DmaOp op;
    op.kind = record.swaps ? DmaKind::compare_swap : DmaKind::fetch_add;
    op.length = atomic_bytes;
    op.rx_token = token;
    op.compare = record.compare;
    op.swap_or_add = record.swap_or_add;
    PendingDma pending;
    pending.purpose = DmaPurpose::request_data;
    pending.reference = node;
    start_dma(qp, op, pieces.items[0].at, pending);
    received_packets[node].dma_pending = 1;
}

}  // namespace rocem::engine
