#include "ipc/layout.hpp"

#include <catch2/catch.hpp>

namespace rocem::ipc {
namespace {

QpCaps caps(std::uint32_t send_wr, std::uint32_t recv_wr, std::uint32_t send_sge, std::uint32_t recv_sge,
            std::uint32_t inline_data) {
    QpCaps value{};
    value.max_send_wr = send_wr;
    value.max_recv_wr = recv_wr;
    value.max_send_sge = send_sge;
    value.max_recv_sge = recv_sge;
    value.max_inline_data = inline_data;
    return value;
}

TEST_CASE("qp_layout__slots_follow_the_head_and_each_other") {
    const QpLayout layout = qp_layout(caps(16, 5, 1, 1, 0));
    CHECK(layout.send.offset == 256);
    CHECK(layout.send.capacity == 16);
    CHECK(layout.send.slots == 16);
    CHECK(layout.send.stride == 128);  // 64 of head, 16 of SGE
    CHECK(layout.recv.offset == 256 + 16 * 128);
    CHECK(layout.recv.capacity == 5);
    CHECK(layout.recv.slots == 8);
    CHECK(layout.recv.stride == 64);  // 16 of head, 16 of SGE
    CHECK(layout.bytes == 256 + 16 * 128 + 8 * 64);
}

TEST_CASE("qp_layout__sges_and_inline_data_share_their_room") {
    CHECK(qp_layout(caps(1, 0, 32, 0, 0)).send.stride == 64 + 512);
    CHECK(qp_layout(caps(1, 0, 32, 0, 512)).send.stride == 64 + 512);
    CHECK(qp_layout(caps(1, 0, 1, 0, 513)).send.stride == 64 + 576);
    CHECK(qp_layout(caps(1, 0, 0, 0, 0)).send.stride == 64);
}

TEST_CASE("qp_layout__a_queue_of_nothing_has_no_slots") {
    const QpLayout layout = qp_layout(caps(0, 0, 1, 1, 64));
    CHECK(layout.send.slots == 0);
    CHECK(layout.recv.slots == 0);
    CHECK(layout.bytes == 256);
}

TEST_CASE("qp_layout__the_largest_caps_do_not_overflow") {
    const QpCaps largest = caps(wr_max, wr_max, sge_max, sge_max, inline_bytes_max);
    REQUIRE(caps_are_sane(largest));
    const QpLayout layout = qp_layout(largest);
    CHECK(layout.send.bytes() == std::uint64_t{wr_max} * (64 + 65536));
    CHECK(layout.recv.bytes() == std::uint64_t{wr_max} * (16 + 16 * 1024 + 48));
}

TEST_CASE("caps_are_sane__each_limit_counts") {
    CHECK_FALSE(caps_are_sane(caps(wr_max + 1, 0, 0, 0, 0)));
    CHECK_FALSE(caps_are_sane(caps(0, wr_max + 1, 0, 0, 0)));
    CHECK_FALSE(caps_are_sane(caps(0, 0, sge_max + 1, 0, 0)));
    CHECK_FALSE(caps_are_sane(caps(0, 0, 0, sge_max + 1, 0)));
    CHECK_FALSE(caps_are_sane(caps(0, 0, 0, 0, inline_bytes_max + 1)));
}

TEST_CASE("cq_layout__capacity_is_what_was_granted") {
    const CqLayout layout = cq_layout(100);
    CHECK(layout.ring.offset == 192);
    CHECK(layout.ring.capacity == 100);
    CHECK(layout.ring.slots == 128);
    CHECK(layout.ring.stride == 64);
    CHECK(layout.bytes == 192 + 128 * 64);
    CHECK(cq_layout(4194303).ring.slots == 4194304);
}

TEST_CASE("holds__an_object_lies_inside_its_segment") {
    const SegmentRef good{1, 0, 4096, 1024, 512};
    CHECK(holds(good, 512));
    CHECK_FALSE(holds(good, 513));
    CHECK(holds(SegmentRef{1, 0, 4096, 4096, 0}, 0));
    CHECK_FALSE(holds(SegmentRef{1, 0, 4096, 4160, 0}, 0));
    CHECK_FALSE(holds(SegmentRef{1, 0, 4096, 1024, 3073}, 512));
    CHECK_FALSE(holds(SegmentRef{1, 0, 4096, 1032, 512}, 512));              // not aligned
    CHECK_FALSE(holds(SegmentRef{1, 0, 4096, 64, ~std::uint64_t{0}}, 512));  // wraps
    CHECK_FALSE(holds(SegmentRef{1, 0, 4096, ~std::uint64_t{63}, 512}, 512));
}

}  // namespace
}  // namespace rocem::ipc
