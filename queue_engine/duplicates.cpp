#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

using protocol::DropReason;
using protocol::Operation;

std::uint32_t steps(protocol::Psn from, protocol::Psn to) {
    return (to.value() - from.value()) & protocol::Psn::mask;
}

}  // namespace

// 5.8.2: nothing is executed twice. An invalid duplicate is dropped, never answered with a NAK.
PacketResult Engine::Impl::handle_duplicate(Qp& qp, const protocol::RocePacket& roce) {
    ++counters.duplicate_request;
    switch (roce.info->operation) {
        case Operation::rdma_read_request:
            return repeat_read(qp, roce);
        case Operation::compare_swap:
        case Operation::fetch_add:
            return repeat_atomic(qp, roce);
        default:
            push_ack(qp);
            return {};
    }
}

PacketResult Engine::Impl::repeat_read(Qp& qp, const protocol::RocePacket& roce) {
    Responder& responder = qp.responder;
    const protocol::Reth& reth = roce.reth;
    for (std::uint32_t i = 0; i < responder.history.size(); ++i) {
        const ReadAtomicRecord& record = responder.history[i];
        const std::uint32_t offset = steps(record.psn, roce.bth.psn);
        if (!record.valid || record.is_atomic || offset >= record.psn_count) continue;
        // Bytes and PSNs must be the same part of what was read, and the differences must not wrap.
        const std::uint64_t skipped = std::uint64_t{offset} * qp.mtu();
        const bool part = reth.r_key == record.r_key && reth.va == record.va + skipped &&
                          reth.dma_length <= record.length - skipped;
        if (!part) break;
        if (!record.committed || answer_is_under_way(qp, i, roce.bth.psn)) return {};
        if (!response_room(qp)) return drop(DropReason::duplicate_queue_full);
        Response response;
        response.kind = Response::Kind::read;
        response.psn = roce.bth.psn;
        response.msn = responder.msn;
        response.r_key = reth.r_key;
        response.va = reth.va;
        response.left = reth.dma_length;
        push_response(qp, response);
        return {};
    }
    return drop(DropReason::invalid_duplicate);
}

// The first answer to this READ has not come to the PSN that is asked for again: it will.
bool Engine::Impl::answer_is_under_way(const Qp& qp, std::uint32_t record, protocol::Psn psn) const {
    for (std::uint32_t node = qp.responder.responses_head; node != no_node; node = responses[node].next) {
        const Response& response = responses[node];
        if (response.kind != Response::Kind::read || response.record != record) continue;
        const ReadAtomicRecord& whole = qp.responder.history[record];
        return steps(whole.psn, response.psn) <= steps(whole.psn, psn);
    }
    return false;
}

PacketResult Engine::Impl::repeat_atomic(Qp& qp, const protocol::RocePacket& roce) {
    Responder& responder = qp.responder;
    const protocol::AtomicEth& eth = roce.atomic_eth;
    for (const ReadAtomicRecord& record : responder.history) {
        if (!record.valid || !record.is_atomic || record.psn != roce.bth.psn) continue;
        const bool same = record.swaps == (roce.info->operation == Operation::compare_swap) &&
                          record.r_key == eth.r_key && record.va == eth.va &&
                          record.swap_or_add == eth.swap_or_add && record.compare == eth.compare;
        if (!same) break;
        if (!record.committed) return {};
        if (!response_room(qp)) return drop(DropReason::duplicate_queue_full);
        Response response;
        response.kind = Response::Kind::atomic;
        response.psn = record.psn;
        response.msn = responder.msn;
        response.original = record.original;
        push_response(qp, response);
        return {};
    }
    return drop(DropReason::invalid_duplicate);
}

}  // namespace rocem::engine
