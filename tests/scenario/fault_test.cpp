// Client memory that cannot be reached (architecture decision 2): what was committed before stays good, the
// request that met the fault fails, and nothing else happens. At the responder it is a remote operational
// error (0x63): the key was right, the responder could not do it.
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {
TEST_CASE("a fault at the responder: the packets before it are acknowledged, the NAK carries its PSN") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint64_t byte = GENERATE(0u, 1023u, 1024u, 2500u, 4095u);
    const int verb = GENERATE(0, 1, 2);
    CAPTURE(byte, verb);
    Story story({.dma = dma});
    const Buffer from = story.a.filled(4096);
    const Buffer to = story.b.buffer(4096);
    const Buffer spare = story.b.buffer(8);
    story.b.memory.fault_at_byte(to.region, byte);
    if (verb == 0) {
        story.b.post(receive(7, to.all()));
        story.b.post(receive(8, spare.all()));
        story.a.post(send(1, from.all()));
    } else if (verb == 1) {
        story.a.post(write(1, from.all(), to.at()));
    } else {
        story.b.post(receive(8, spare.all()));
        story.a.post(write_with_immediate(1, from.all(), to.at(), 5));
    }
    story.a.post(write(2, from.slice(0, 8), spare.at()));
    story.run();

    REQUIRE(story.count(nak()) == 1);
    CHECK(describe(story.sightings(nak())[0]) ==
          "B>A NAK_REMOTE_OPERATIONAL psn=+" + std::to_string(byte / 1024) + " msn=0");
    CHECK(story.log_from(Side::b).find(" ACK psn=+3") == std::string::npos);
    CHECK(story.a.sent() == "wr=1 REM_OP_ERR\nwr=2 WR_FLUSH_ERR\n");
    CHECK(story.b.state() == engine::QpState::error);
    const auto received = story.b.take_received();
    if (verb == 0) {
        REQUIRE(received.size() == 2);
        CHECK(received[0].wr_id == 7);
        CHECK(received[0].status != engine::WcStatus::success);
        CHECK(received[0].status != engine::WcStatus::flush_error);
        CHECK(describe(received[1]) == "wr=8 WR_FLUSH_ERR");
    } else if (verb == 2) {
        REQUIRE(received.size() == 1);
        CHECK(describe(received[0]) == "wr=8 WR_FLUSH_ERR");
    }
    CHECK(same_bytes(to.bytes.first(byte), from.bytes.first(byte)));
    CHECK(story.b.counters().dma_faults >= 1);
}

TEST_CASE("a fault at the responder leaves the messages before it good") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(2048);
    const Buffer good = story.b.buffer(2048);
    const Buffer bad = story.b.buffer(2048);
    story.b.memory.fault_at_byte(bad.region, 1500);
    story.b.post(receive(7, good.all()));
    story.a.post(send(1, from.all()));
    story.a.post(write(2, from.all(), good.at()));
    story.a.post(write(3, from.all(), bad.at()));
    story.a.post(write(4, from.all(), good.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 SEND ok\nwr=2 RDMA_WRITE ok\nwr=3 REM_OP_ERR\nwr=4 WR_FLUSH_ERR\n");
    CHECK(story.b.received() == "wr=7 RECV ok len=2048\n");
    CHECK(describe(story.sightings(nak()).at(0)) == "B>A NAK_REMOTE_OPERATIONAL psn=+5 msn=2");
}

TEST_CASE("a fault in what a READ reads: the responses before it go out, then a NAK") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint64_t byte = GENERATE(0u, 1024u, 2500u, 4095u);
    CAPTURE(byte);
    Story story({.dma = dma});
    const Buffer from = story.b.filled(4096);
    const Buffer to = story.a.buffer(4096);
    story.b.memory.fault_at_byte(from.region, byte);
    story.a.post(read(1, to.all(), from.at()));
    story.a.post(read(2, to.all(), from.at()));
    story.run();
    REQUIRE(story.count(nak()) == 1);
    CHECK(story.sightings(nak())[0].packet.syndrome == syndrome_remote_operational);
    CHECK(story.sightings(nak())[0].psn == static_cast<std::int32_t>(byte / 1024));
    CHECK(story.count({Side::b, FrameKind::read_response, {}}) == byte / 1024);
    CHECK(story.a.sent() == "wr=1 REM_OP_ERR\nwr=2 WR_FLUSH_ERR\n");
    CHECK(story.b.state() == engine::QpState::error);
}

TEST_CASE("a fault under an atomic: nothing is answered but a NAK") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer target = story.b.buffer(8);
    const Buffer result = story.a.buffer(8);
    story.b.memory.fault_at_byte(target.region, 3);
    story.a.post(fetch_add(1, result.all(), target.at(), 1));
    story.run();
    CHECK(story.log_from(Side::b) == "B>A NAK_REMOTE_OPERATIONAL psn=+0 msn=0\n");
    CHECK(story.a.sent() == "wr=1 REM_OP_ERR\n");
    CHECK(target.bytes[0] == std::byte{0});
}

TEST_CASE(
    "a fault in what the requester sends: earlier requests complete, this one fails, no frame of it goes "
    "on") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint64_t byte = GENERATE(0u, 1500u, 4095u);
    CAPTURE(byte);
    Story story({.dma = dma});
    const Buffer good = story.a.filled(4096);
    const Buffer bad = story.a.filled(4096, 2);
    const Buffer to = story.b.buffer(4096);
    const Buffer untouched = story.b.buffer(4096);
    story.a.memory.fault_at_byte(bad.region, byte);
    story.a.post(write(1, good.all(), to.at()));
    story.a.post(write(2, bad.all(), untouched.at()));
    story.a.post(write(3, good.all(), to.at()));
    story.run();
    const auto completions = story.a.take_sent();
    REQUIRE(completions.size() == 3);
    CHECK(describe(completions[0]) == "wr=1 RDMA_WRITE ok");
    CHECK(completions[1].wr_id == 2);
    // Verbs have two words for it; both say that it was our side.
    CHECK((completions[1].status == engine::WcStatus::local_protection_error ||
           completions[1].status == engine::WcStatus::local_qp_operation_error));
    CHECK(describe(completions[2]) == "wr=3 WR_FLUSH_ERR");
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(same_bytes(to.bytes, good.bytes));
    for (const Sighting& sighting : story.sightings(any_request())) {
        CHECK(sighting.psn < 4 + static_cast<std::int32_t>(byte / 1024));
    }
    CHECK(same_bytes(untouched.bytes.subspan(byte), std::vector<std::byte>(4096 - byte)));
}

TEST_CASE("a fault in where a READ or an atomic puts its answer is a local error") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool atomic = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer from = story.b.filled(4096);
    const Buffer to = story.a.buffer(4096);
    story.a.memory.fault_at_byte(to.region, atomic ? 0 : 2500);
    story.a.post(atomic ? fetch_add(1, to.slice(0, 8), from.at(), 0) : read(1, to.all(), from.at()));
    story.a.post(write(2, to.slice(0, 8), from.at()));
    story.run();
    const auto completions = story.a.take_sent();
    REQUIRE(completions.size() == 2);
    CHECK(completions[0].wr_id == 1);
    CHECK((completions[0].status == engine::WcStatus::local_protection_error ||
           completions[0].status == engine::WcStatus::local_qp_operation_error));
    CHECK(describe(completions[1]) == "wr=2 WR_FLUSH_ERR");
    CHECK(story.a.state() == engine::QpState::error);
}

TEST_CASE("decision 2: a fault of a frame whose request has retired is a dropped frame, not an error") {
    // The first transmission is acknowledged late: a resent frame is being built when the ACK comes.
    Story story({.latency = 3ms, .timeout = 8});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    REQUIRE(story.run_until([&] { return story.count(any_request()) == 1; }));
    story.a.memory.hold();
    // The timer builds the frame again; its read hangs until the ACK has retired the request.
    REQUIRE(story.run_until([&] { return story.a.memory.pending() != 0; }));
    REQUIRE(story.run_until([&] { return !story.a.sent().empty(); }));
    story.a.memory.fault_at_operation(from.region, 0);
    story.a.memory.release();
    story.run();
    CHECK(story.a.state() == engine::QpState::rts);
    CHECK(story.count(any_request()) == 1);

    story.a.memory.heal(from.region);
    story.a.post(write(2, from.all(), to.at()));
    story.run();
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\n");
}

TEST_CASE("a QP that dies in the middle of a SEND completes its receive once (device.md 1.5, lesson 12)") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool by_modify = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer from = story.a.filled(2048);
    const Buffer to = story.b.buffer(2048);
    for (std::uint64_t id = 1; id <= 4; ++id)
        story.b.post(receive(id, to.all()));
    story.lose(request(+1).always());
    story.a.post(send(1, from.all()));
    REQUIRE(story.run_until([&] { return story.count(any_request()) == 2; }));
    story.run_for(20us);
    if (by_modify) {
        REQUIRE(story.modify(Side::b, engine::QpState::error) == engine::Error::none);
    } else {
        story.b.engine.handle_cq_overflow(story.now(), story.b.send_cq);
    }
    story.run();
    const auto received = story.b.take_received();
    REQUIRE(received.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(received[i].wr_id == i + 1);
        CHECK(received[i].status == engine::WcStatus::flush_error);
    }
}

}  // namespace rocem::test
