#include <algorithm>
#include <cstring>

#include "protocol/encode.hpp"
#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {

BuiltFrame Engine::Impl::build_frame(Qp& qp, protocol::RocePacket& roce, std::size_t payload_bytes,
                                     std::span<std::byte> buffer, PendingFrame pending) {
    const std::uint8_t pad = protocol::PadCount::for_length(payload_bytes).value();
    roce.bth.opcode = static_cast<std::uint8_t>(roce.info->opcode);
    roce.bth.mig_req = settings.mig_req;
    roce.bth.pad_count = pad;
    roce.bth.p_key = settings.pkey_table[qp.attributes.pkey_index];
    roce.bth.dest_qp = qp.attributes.dest_qpn;

    const std::size_t transport =
        protocol::transport_header_bytes(*roce.info) + payload_bytes + pad + protocol::icrc_bytes;
    const std::size_t bth_at = protocol::write_headers(qp.path, buffer, transport, ipv4_identification++);
    const std::size_t payload_at = bth_at + protocol::encode_transport(roce, buffer.subspan(bth_at));
    std::memset(&buffer[payload_at + payload_bytes], 0, pad);

    pending.qp = qp.handle.index;
    pending.epoch = pending.role == FrameRole::request ? qp.requester.epoch : qp.responder.epoch;
    pending.psn = roce.bth.psn;
    pending.length = static_cast<std::uint32_t>(bth_at + transport);
    FrameQueue& queue = pending.role == FrameRole::request ? qp.requester.frames : qp.responder.frames;
    BuiltFrame built;
    built.frame.id = frames.append(queue, pending);
    built.frame.length = pending.length;
    built.frame.l3_offset = qp.path.l3_offset;
    built.payload = &buffer[payload_at];
    ++qp.frames_pending;
    return built;
}

TxFrame Engine::Impl::release_frame(Qp& qp, const BuiltFrame& built, FrameRole role) {
    frames.release_ready(role == FrameRole::request ? qp.requester.frames : qp.responder.frames);
    return built.frame;
}

bool Engine::Impl::gather(const Qp& qp, const SgeList& list, std::uint64_t offset, std::uint64_t length,
                          std::uint32_t access, Pieces& pieces) const {
    pieces.count = 0;
    for (std::uint32_t i = 0; i < list.count && length > 0; ++i) {
        const Sge& entry = sge(list, i);
        if (offset >= entry.length) {
            offset -= entry.length;
            continue;
        }
        const std::uint64_t bytes = std::min<std::uint64_t>(entry.length - offset, length);
        const auto at = memory.translate(entry.l_key.value(), qp.init.pd, entry.addr + offset, bytes, access);
        if (!at) return false;
        Pieces::Piece* before = pieces.count > 0 ? &pieces.items[pieces.count - 1] : nullptr;
        if (before != nullptr && before->at.mr == at->mr &&
            before->at.region_offset + before->length == at->region_offset) {
            before->length += static_cast<std::uint32_t>(bytes);
        } else {
            pieces.items[pieces.count++] = {*at, static_cast<std::uint32_t>(bytes)};
        }
        offset = 0;
        length -= bytes;
    }
    return length == 0;
}

void Engine::Impl::read_pieces(Qp& qp, const Pieces& pieces, TxFrameId frame, std::byte* to) {
    for (std::uint32_t i = 0; i < pieces.count; ++i) {
        DmaOp op;
        op.kind = DmaKind::read;
        op.length = pieces.items[i].length;
        op.to_frame = to;
        to += op.length;
        PendingDma pending;
        pending.purpose = DmaPurpose::frame_payload;
        pending.reference = frame;
        start_dma(qp, op, pieces.items[i].at, pending);
        ++frames[frame].dma_pending;
    }
}

std::uint32_t Engine::Impl::write_pieces(Qp& qp, const Pieces& pieces, std::span<const std::byte> from,
                                         RxToken token, bool last, DmaPurpose purpose,
                                         std::uint32_t reference) {
    const std::byte* at = from.data();
    for (std::uint32_t i = 0; i < pieces.count; ++i) {
        DmaOp op;
        op.kind = DmaKind::write;
        op.length = pieces.items[i].length;
        op.from_frame = at;
        op.rx_token = token;
        op.last_byte_last = last && i + 1 == pieces.count;
        at += op.length;
        PendingDma pending;
        pending.purpose = purpose;
        pending.reference = reference;
        start_dma(qp, op, pieces.items[i].at, pending);
    }
    return pieces.count;
}

std::uint32_t Engine::Impl::write_value(Qp& qp, const Pieces& pieces, std::uint64_t value, RxToken token,
                                        std::uint32_t wqe) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    for (std::uint32_t i = 0; i < pieces.count; ++i) {
        DmaOp op;
        op.kind = DmaKind::write;
        op.length = pieces.items[i].length;
        op.rx_token = token;
        op.last_byte_last = i + 1 == pieces.count;
        PendingDma pending;
        pending.purpose = DmaPurpose::response_data;
        pending.reference = wqe;
        std::copy_n(at, op.length, pending.own_bytes.begin());
        at += op.length;
        start_dma(qp, op, pieces.items[i].at, pending);
    }
    return pieces.count;
}

void Engine::Impl::start_dma(Qp& qp, DmaOp op, const Translation& at, PendingDma pending) {
    op.qp = qp.handle;
    op.region = at.region;
    op.region_offset = at.region_offset;
    pending.qp = qp.handle.index;
    pending.mr = at.mr;
    pending.life = qp.life;
    memory.dma_started(at.mr);
    ++qp.dma_pending;
    dma.start(op, pending);
}

}  // namespace rocem::engine
