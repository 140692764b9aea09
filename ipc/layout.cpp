#include "ipc/layout.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace rocem::ipc {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

RingShape ring_shape(std::uint64_t offset, std::uint32_t capacity, std::uint64_t slot_bytes) {
    RingShape shape;
    shape.offset = offset;
    shape.capacity = capacity;
    shape.slots = capacity == 0 ? 0 : std::bit_ceil(capacity);
    shape.stride = static_cast<std::uint32_t>(round_up(slot_bytes, ROCEM_ABI_CACHE_LINE));
    return shape;
}

}  // namespace

bool caps_are_sane(const QpCaps& caps) {
    return caps.max_send_wr <= wr_max && caps.max_recv_wr <= wr_max && caps.max_send_sge <= sge_max &&
           caps.max_recv_sge <= sge_max && caps.max_inline_data <= inline_bytes_max;
}

QpLayout qp_layout(const QpCaps& caps) {
    assert(caps_are_sane(caps));
    const std::uint64_t send_payload =
        std::max<std::uint64_t>(std::uint64_t{caps.max_send_sge} * sizeof(Sge), caps.max_inline_data);
    QpLayout layout;
    layout.send = ring_shape(sizeof(QpHead), caps.max_send_wr, sizeof(SendWqe) + send_payload);
    layout.recv = ring_shape(layout.send.offset + layout.send.bytes(), caps.max_recv_wr,
                             sizeof(RecvWqe) + std::uint64_t{caps.max_recv_sge} * sizeof(Sge));
    layout.bytes = layout.recv.offset + layout.recv.bytes();
    return layout;
}

CqLayout cq_layout(std::uint32_t cqe) {
    assert(cqe >= 1 && cqe <= cqe_max);
    CqLayout layout;
    layout.ring = ring_shape(sizeof(CqHead), cqe, sizeof(Cqe));
    layout.bytes = layout.ring.offset + layout.ring.bytes();
    return layout;
}

bool holds(const SegmentRef& ref, std::uint64_t bytes_needed) {
    return ref.offset % ROCEM_ABI_CACHE_LINE == 0 && ref.offset <= ref.segment_bytes &&
           ref.bytes <= ref.segment_bytes - ref.offset && bytes_needed <= ref.bytes;
}

}  // namespace rocem::ipc
