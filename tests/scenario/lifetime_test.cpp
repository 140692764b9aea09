// Objects that go while their DMA is on its way (architecture decision 7), and queue pairs that start afresh.
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

using engine::Error;
using engine::QpState;

// B has accepted a WRITE whose bytes are still on their way.
void hold_a_write_at_b(Story& story, const Buffer& from, const Buffer& to) {
    story.b.memory.hold();
    story.a.post(write(1, from.all(), to.at()));
    REQUIRE(story.run_until([&] { return story.b.memory.pending() != 0; }));
    story.run_for(20us);
}

}  // namespace

TEST_CASE("decision 2: no ACK, no completion and no MSN before the bytes are committed") {
    Story story;
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.b.memory.hold();
    story.b.post(receive(7, to.all()));
    SECTION("SEND") {
        story.a.post(send(1, from.all()));
    }
    SECTION("WRITE") {
        story.a.post(write(1, from.all(), to.at()));
    }
    SECTION("FETCH_ADD") {
        story.a.post(fetch_add(1, from.all(), to.at(), 1));
    }
    story.run_for(1ms);
    CHECK(story.log_from(Side::b).empty());
    CHECK(story.b.received().empty());
    story.b.memory.release();
    story.run();
    CHECK(story.count({Side::b, FrameKind::any, {}}) == 1);
    CHECK(story.a.take_sent().size() == 1);
}

TEST_CASE("decision 2: a NAK for a gap waits for the commit of what it acknowledges") {
    Story story;
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);
    story.b.memory.hold();
    story.lose(request(+1));
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(1ms);
    CHECK(story.log_from(Side::b).empty());
    story.b.memory.release();
    story.run();
    CHECK(story.log_from(Side::b) == lines(R"(
        B>A NAK_PSN_SEQUENCE psn=+1 msn=0
        B>A ACK psn=+2 msn=1
    )"));
}

TEST_CASE("decision 2: a frame leaves, and its timer starts, when its bytes are there") {
    Story story({.timeout = 8});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.memory.hold();
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(100ms);
    CHECK(story.log().empty());
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    story.a.memory.release();
    story.run();
    CHECK(story.count(any_request()) == 1);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("destroy_qp: silent at once, exists until its last DMA operation is answered") {
    Story story({.connections = 2});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    hold_a_write_at_b(story, from, to);
    const auto qp = story.b.qp();
    const auto qpn = story.b.qpn();

    CHECK(story.b.engine.destroy_qp(qp) == Error::none);
    CHECK(story.b.engine.exists(qp));
    CHECK_FALSE(story.b.engine.find_qp(qpn).has_value());
    CHECK(story.b.engine.destroy_qp(qp) == Error::not_found);
    story.b.memory.release();
    story.run_for(10us);
    CHECK_FALSE(story.b.engine.exists(qp));
    CHECK(story.log_from(Side::b).empty());

    // The other QP does not notice, A's hears nothing any more.
    story.a.post(write(2, from.all(), to.at()), 1);
    story.run();
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\nwr=1 RETRY_EXC_ERR\n");
}

TEST_CASE("destroy_qp: unpolled completions are dropped, frames under construction are discarded") {
    const DmaMode dma = GENERATE(DmaMode{3}, DmaMode{17});
    Story story({.dma = dma, .connections = 2});
    const Buffer from = story.a.filled(10 * 1024);
    const Buffer to = story.b.buffer(10 * 1024);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(write(2, from.all(), to.at()), 1);
    story.step_turns(2);  // frames built, their bytes on the way
    const auto qp = story.a.qp(0);
    CHECK(story.a.engine.destroy_qp(qp) == Error::none);
    story.run();
    CHECK_FALSE(story.a.engine.exists(qp));
    CHECK(story.sightings({Side::a, FrameKind::request, {}}).empty());
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("deregister_mr: the key is dead at once, the region is needed until its DMA is answered") {
    Story story;
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    hold_a_write_at_b(story, from, to);
    CHECK(story.b.engine.deregister_mr(to.mr.handle) == Error::none);
    CHECK(story.b.engine.exists(to.mr.handle));
    story.a.post(write(2, from.all(), to.at()));
    story.run_for(20us);
    CHECK(story.b.engine.exists(to.mr.handle));
    story.b.memory.release();
    story.run();
    CHECK_FALSE(story.b.engine.exists(to.mr.handle));
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 REM_ACCESS_ERR\n");
}

TEST_CASE("decision 7: a long READ re-checks the key for every response packet") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.b.filled(256 * 3000);
    const Buffer to = story.a.buffer(256 * 3000);
    story.a.post(read(1, to.all(), from.at()));
    REQUIRE(story.run_until([&] { return story.wire.frames_sent(Side::b) >= 64; }));
    CHECK(story.b.engine.deregister_mr(from.mr.handle) == Error::none);
    story.run();
    CHECK_FALSE(story.b.engine.exists(from.mr.handle));
    CHECK(story.a.sent() == "wr=1 REM_ACCESS_ERR\n");
    CHECK(story.count(nak()) == 1);
    CHECK(story.sightings(nak())[0].packet.syndrome == syndrome_remote_access);
    CHECK(story.count({Side::b, FrameKind::read_response, {}}) < 3000);
}

TEST_CASE("a key of a deregistered MR never works for its successor") {
    Story story;
    for (int round = 0; round < 20; ++round) {
        const Buffer old = story.b.buffer(8);
        REQUIRE(story.b.engine.deregister_mr(old.mr.handle) == Error::none);
        const Buffer fresh = story.b.buffer(8);
        CHECK(number_of(old.mr.r_key) != number_of(fresh.mr.r_key));
        CHECK_FALSE(old.mr.handle == fresh.mr.handle);
        CHECK_FALSE(story.b.engine.exists(old.mr.handle));
    }
}

TEST_CASE("RESET with DMA on its way, then a fresh start with fresh PSNs") {
    const bool requester = GENERATE(false, true);
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(4096);
    const Buffer to = story.b.buffer(4096);
    const Buffer after = story.b.buffer(4096);
    Node& holder = requester ? story.a : story.b;
    holder.memory.hold();
    story.b.post(receive(7, to.all()));
    story.a.post(send(1, from.all()));
    REQUIRE(story.run_until([&] { return holder.memory.pending() != 0; }));
    story.run_for(20us);

    for (const Side side : {Side::a, Side::b}) {
        REQUIRE(story.modify(side, QpState::reset) == Error::none);
        story.node(side).forget_posts();
    }
    story.connect(0, 0x9000, 0x8000);
    story.wire.clear_log();
    story.b.post(receive(8, after.all()));
    story.a.post(send(2, from.all()));
    story.run_for(20us);
    holder.memory.release();
    story.run();

    CHECK(story.requests() == lines(R"(
        A>B SEND_FIRST psn=+0
        A>B SEND_MIDDLE psn=+1
        A>B SEND_MIDDLE psn=+2
        A>B SEND_LAST psn=+3
    )"));
    CHECK(story.a.sent() == "wr=2 SEND ok\n");
    CHECK(story.b.received() == "wr=8 RECV ok len=4096\n");
    CHECK(same_bytes(after.bytes, from.bytes));
    CHECK(story.sightings(ack()).back().packet.msn == 1);
}

TEST_CASE("RESET empties both queues without a completion") {
    Story story;
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    for (std::uint64_t id = 1; id <= 3; ++id) {
        story.a.post(write(id, from.all(), to.at()));
        story.a.post(receive(id, from.all()));
    }
    story.run_for(10us);
    REQUIRE(story.modify(Side::a, QpState::reset) == Error::none);
    story.run();
    CHECK(story.a.sent().empty());
    CHECK(story.a.received().empty());
    CHECK(story.a.engine.next_deadline() == engine::never);
    CHECK(story.a.state() == QpState::reset);
}

TEST_CASE("a QP recovers from ERR through RESET") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(2000);
    const Buffer to = story.b.buffer(2000);
    for (std::uint32_t round = 0; round < 3; ++round) {
        story.a.post(write(1, from.all(), {to.va + 1, to.mr.r_key}));
        story.run();
        CHECK(story.a.sent() == "wr=1 REM_ACCESS_ERR\n");
        for (const Side side : {Side::a, Side::b})
            REQUIRE(story.modify(side, QpState::reset) == Error::none);
        story.connect(0, 0xfffffe + round, 77 * round);
        story.a.post(write(2, from.all(), to.at()));
        story.run();
        CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\n");
    }
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("a handle of a destroyed QP names nothing, also when its slot has a new tenant") {
    Story story;
    const auto old = story.a.qp();
    REQUIRE(story.a.engine.destroy_qp(old) == Error::none);
    for (int i = 0; i < 10; ++i) {
        const auto fresh = story.a.engine.create_qp(story.init(Side::a));
        REQUIRE(fresh.has_value());
        CHECK_FALSE(fresh->handle == old);
        CHECK_FALSE(story.a.engine.query_qp(old).has_value());
        CHECK(story.a.engine.send_room(old) == 0);
        CHECK(story.a.engine.receive_room(old) == 0);
        CHECK(story.a.engine.post_send(story.now(), old, send(1, {}).wr()) == Error::not_found);
        REQUIRE(story.a.engine.destroy_qp(fresh->handle) == Error::none);
    }
}

}  // namespace rocem::test
