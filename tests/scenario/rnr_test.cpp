// A SEND that finds no receive (the row rnr; rocev2.md 5.4, 5.8.4, 5.9.3).
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

void check_gaps(const Story& story, std::int32_t psn, engine::Duration least) {
    const auto naks = story.sightings(rnr_nak());
    const auto sent = story.sightings(request(psn));
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
        CAPTURE(i);
        REQUIRE(i < naks.size());
        CHECK(sent[i + 1].time - naks[i].time >= least);
    }
}

}  // namespace

TEST_CASE("rnr: rnr_retry 3 is four transmissions, each wait at least the responder's timer") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .rnr_retry = 3, .min_rnr_timer = 12});
    const Buffer from = story.a.filled(8);
    story.a.post(send(1, from.all()));
    story.run();

    CHECK(story.log() == lines(R"(
        A>B SEND_ONLY psn=+0
        B>A RNR_NAK psn=+0 msn=0 timer=12
        A>B SEND_ONLY psn=+0
        B>A RNR_NAK psn=+0 msn=0 timer=12
        A>B SEND_ONLY psn=+0
        B>A RNR_NAK psn=+0 msn=0 timer=12
        A>B SEND_ONLY psn=+0
        B>A RNR_NAK psn=+0 msn=0 timer=12
    )"));
    CHECK(story.sightings(rnr_nak())[0].packet.syndrome == 0x2c);
    check_gaps(story, 0, 640us);
    CHECK(story.a.sent() == "wr=1 RNR_RETRY_EXC_ERR\n");
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(story.b.state() == engine::QpState::rts);
    CHECK(story.a.counters().rnr_nak_retry_err == 3);
    CHECK(story.a.counters().req_rnr_retries_exceeded == 1);
    CHECK(story.b.counters().out_of_buffer == 4);
}

TEST_CASE("rnr: rnr_retry 0 gives up at once") {
    Story story({.dma = ANY_DMA_MODE(), .rnr_retry = 0});
    const Buffer from = story.a.filled(8);
    story.a.post(send(1, from.all()));
    story.run();
    CHECK(story.count(any_request()) == 1);
    CHECK(story.a.sent() == "wr=1 RNR_RETRY_EXC_ERR\n");
}

TEST_CASE("rnr: rnr_retry 7 goes on until a receive is posted") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .rnr_retry = 7, .min_rnr_timer = 12});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(send(1, from.all()));
    story.run_for(100ms);
    const std::size_t tried = story.count(any_request());
    CHECK(tried > 8);
    CHECK(tried <= 157);  // 100 ms / 0.64 ms
    check_gaps(story, 0, 640us);
    CHECK(story.a.sent().empty());

    story.b.post(receive(7, to.all()));
    story.run();
    CHECK(story.a.sent() == "wr=1 SEND ok\n");
    CHECK(story.b.received() == "wr=7 RECV ok len=8\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.4: every RNR timer code means its time, code 0 the longest") {
    // Microseconds, typed from rocev2.md 5.4.
    static constexpr std::uint32_t times_us[32] = {
        655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
        480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
        20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};
    for (std::uint8_t code = 0; code < 32; ++code) {
        CAPTURE(int{code});
        Story story({.rnr_retry = 1, .min_rnr_timer = code});
        const Buffer from = story.a.filled(8);
        story.a.post(send(1, from.all()));
        story.run();
        const auto naks = story.sightings(rnr_nak());
        const auto sent = story.sightings(request(0));
        REQUIRE(naks.size() == 2);
        REQUIRE(sent.size() == 2);
        CHECK(naks[0].packet.syndrome == (0x20 | code));
        const auto wait = sent[1].time - naks[0].time;
        CHECK(wait >= std::chrono::microseconds(times_us[code]));
        // A timer that is late by more than the next code would be another timer.
        CHECK(wait <= 2 * std::chrono::microseconds(times_us[code]) + 50us);
    }
}

TEST_CASE("5.9.3: forward progress reloads rnr_retry") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .rnr_retry = 2});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    for (std::uint64_t id = 1; id <= 3; ++id) {
        story.a.post(send(id, from.all()));
        // Two refusals for each: more than rnr_retry in all, but never in a row.
        REQUIRE(story.run_until([&] { return story.count(rnr_nak()) == 2 * id; }));
        story.b.post(receive(id + 6, to.all()));
        REQUIRE(story.run_until([&] { return story.a.take_sent().size() == 1; }));
    }
    story.run();
    CHECK(story.a.state() == engine::QpState::rts);
    CHECK(story.b.take_received().size() == 3);
}

TEST_CASE("5.8.1: after an RNR NAK the packets behind it are met with silence") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);
    story.a.post(send(1, from.all()));
    story.a.post(write(2, from.all(), to.at()));
    REQUIRE(story.run_until([&] { return story.count(rnr_nak()) == 1; }));
    story.run_for(100us);
    CHECK(story.log_from(Side::b) == "B>A RNR_NAK psn=+0 msn=0 timer=12\n");
    CHECK(story.b.counters().seq_naks_sent == 0);
    story.b.post(receive(7, to.all()));
    story.run();
    CHECK(story.a.sent() == "wr=1 SEND ok\nwr=2 RDMA_WRITE ok\n");
    CHECK(story.count(nak()) == 0);
}

TEST_CASE("5.8.4: a WRITE_WITH_IMM without a receive is refused at its last packet only") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);
    story.a.post(write_with_immediate(1, from.all(), to.at(), 77));
    REQUIRE(story.run_until([&] { return story.count(rnr_nak()) == 1; }));
    story.b.post(receive(7, {}));
    story.run();
    CHECK(story.log() == lines(R"(
        A>B WRITE_FIRST psn=+0
        A>B WRITE_MIDDLE psn=+1
        A>B WRITE_LAST_IMM psn=+2
        B>A RNR_NAK psn=+2 msn=0 timer=12
        A>B WRITE_LAST_IMM psn=+2
        B>A ACK psn=+2 msn=1
    )"));
    CHECK(story.b.received() == "wr=7 RECV_RDMA_WITH_IMM ok len=3072 imm=0x4d\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.9.3: an RNR NAK acknowledges what came before it") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(ack());
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(send(2, from.all()));
    story.run_for(100us);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    story.b.post(receive(7, to.all()));
    story.run();
    CHECK(story.a.sent() == "wr=2 SEND ok\n");
    CHECK(story.count(request(0)) == 1);
}

TEST_CASE("a receive that was posted before the packet came is seen (needs_receive)") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .rnr_retry = 0, .lazy_receives = true});
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);
    for (std::uint64_t id = 1; id <= 5; ++id) {
        story.b.post(receive(id, to.all()));
        if (id % 2 == 0) {
            story.a.post(write_with_immediate(id, from.all(), to.at(), 1));
        } else {
            story.a.post(send(id, from.all()));
        }
        story.run();
    }
    CHECK(story.a.take_sent().size() == 5);
    CHECK(story.b.take_received().size() == 5);
    CHECK(story.count(rnr_nak()) == 0);
    CHECK(story.a.state() == engine::QpState::rts);
}

TEST_CASE("a lost RNR NAK costs a timeout") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(rnr_nak());
    story.a.post(send(1, from.all()));
    story.run_for(1ms);
    story.b.post(receive(7, to.all()));
    story.run();
    CHECK(story.a.counters().local_ack_timeout_err == 1);
    CHECK(story.a.sent() == "wr=1 SEND ok\n");
    CHECK(story.b.received() == "wr=7 RECV ok len=8\n");
}

}  // namespace rocem::test
