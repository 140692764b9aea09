// Where rings lie inside an object's bytes: one computation for both sides, from what was granted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ipc/abi.h"

namespace rocem::ipc {

using RingWords = rocem_abi_ring_words;
using Sge = rocem_abi_sge;
using SendWqe = rocem_abi_send_wqe;
using RecvWqe = rocem_abi_recv_wqe;
using Cqe = rocem_abi_cqe;
using CqHead = rocem_abi_cq_head;
using QpHead = rocem_abi_qp_head;
using QpCaps = rocem_abi_qp_caps;
using Bitmap = rocem_abi_bitmap;
using SessionSegment = rocem_abi_session_segment;
using WorkerPage = rocem_abi_worker_page;
using CountersPage = rocem_abi_counters_page;
using SegmentRef = rocem_abi_segment_ref;

// A ring of slots inside an object.
struct RingShape {
    std::uint64_t offset = 0;    // bytes from the object's start to slot 0
    std::uint32_t slots = 0;     // a power of two, >= capacity; 0: the ring does not exist
    std::uint32_t capacity = 0;  // entries in use at once
    std::uint32_t stride = 0;    // bytes from slot to slot, a multiple of 64

    std::uint64_t bytes() const { return std::uint64_t{slots} * stride; }
};

struct QpLayout {
    RingShape send;
    RingShape recv;
    std::uint64_t bytes = 0;  // of the whole object
};

struct CqLayout {
    RingShape ring;
    std::uint64_t bytes = 0;
};

// The most that a layout is made for; more is a refusal before it gets here.
inline constexpr std::uint32_t wr_max = std::uint32_t{1} << 20;
inline constexpr std::uint32_t sge_max = 1024;
inline constexpr std::uint32_t inline_bytes_max = 65536;
inline constexpr std::uint32_t cqe_max = std::uint32_t{1} << 23;

// Whether qp_layout may be asked: each value is at most the maximum above.
bool caps_are_sane(const QpCaps& caps);

// [QpHead][send slots][receive slots]
QpLayout qp_layout(const QpCaps& caps);

// [CqHead][Cqe slots]; 1 <= cqe <= cqe_max
CqLayout cq_layout(std::uint32_t cqe);

// Whether the object lies inside its segment, aligned, and has the bytes that it needs.
bool holds(const SegmentRef& ref, std::uint64_t bytes_needed);

}  // namespace rocem::ipc
