// The ack timer (the row ack-timeout; rocev2.md 5.9.1, 5.9.2).
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

constexpr engine::Duration timer(unsigned code) {
    return 4096ns * (std::int64_t{1} << code);
}

}  // namespace

TEST_CASE("ack-timeout: retry_cnt 2 is three transmissions, each wait between T and 4 T") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .timeout = 14, .retry_cnt = 2});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(write(2, from.all(), to.at()));
    story.run();

    const auto sent = story.sightings(request(0));
    REQUIRE(sent.size() == 3);
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
        const auto wait = sent[i + 1].time - sent[i].time;
        CHECK(wait >= 67'108'864ns);
        CHECK(wait <= 268'435'456ns);
    }
    const auto last_wait = story.now() - sent[2].time;
    CHECK(last_wait >= 67'108'864ns);
    CHECK(last_wait <= 268'435'456ns);
    CHECK(story.a.sent() == "wr=1 RETRY_EXC_ERR\nwr=2 WR_FLUSH_ERR\n");
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(story.a.counters().local_ack_timeout_err == 2);
    CHECK(story.a.counters().req_transport_retries_exceeded == 1);
}

TEST_CASE("ack-timeout: retry_cnt 7 is seven retries, not for ever") {
    Story story({.dma = ANY_DMA_MODE(), .timeout = 5, .retry_cnt = 7});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    CHECK(story.count(request(0)) == 8);
    CHECK(story.a.sent() == "wr=1 RETRY_EXC_ERR\n");
}

TEST_CASE("ack-timeout: timeout 0 waits for ever, in silence") {
    Story story({.dma = ANY_DMA_MODE(), .timeout = 0});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    CHECK(story.count(any_request()) == 1);
    CHECK(story.a.sent().empty());
    CHECK(story.a.engine.next_deadline() == engine::never);
    story.run_for(std::chrono::hours(24));
    CHECK(story.count(any_request()) == 1);
}

TEST_CASE("5.9.1: every timeout code waits between T and 4 T") {
    const auto code = static_cast<std::uint8_t>(GENERATE(range(1, 32)));
    CAPTURE(int{code});
    Story story({.timeout = code, .retry_cnt = 1});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(9 * timer(code));
    const auto sent = story.sightings(request(0));
    REQUIRE(sent.size() == 2);
    CHECK(sent[1].time - sent[0].time >= timer(code));
    CHECK(sent[1].time - sent[0].time <= 4 * timer(code));
    CHECK(story.a.sent() == "wr=1 RETRY_EXC_ERR\n");
}

TEST_CASE("5.9.1: progress restarts the timer, and it stops when nothing is outstanding") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .timeout = 8});  // 1.05 ms
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    // A WRITE every 0.4 ms: one is outstanding at almost any time, none for as long as T.
    for (std::uint64_t id = 1; id <= 20; ++id) {
        story.a.post(write(id, from.all(), to.at()));
        story.run_for(400us);
    }
    story.run();
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.a.engine.next_deadline() == engine::never);
    CHECK(story.b.engine.next_deadline() == engine::never);
}

TEST_CASE("no spurious timeout: a slow wire within T resends nothing") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256, .latency = 400us, .timeout = 8});  // round trip 0.8 ms, T 1.05 ms
    const Buffer from = story.a.filled(256 * 1000);
    const Buffer to = story.b.buffer(256 * 1000);
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.count(any_request()) == 1000);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("5.9.2: forward progress reloads retry_cnt") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .timeout = 8, .retry_cnt = 1});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    for (std::int32_t psn = 0; psn < 5; ++psn)
        story.lose(request(psn));
    for (std::uint64_t id = 1; id <= 5; ++id) {
        story.a.post(write(id, from.all(), to.at()));
        story.run();
    }
    CHECK(story.a.counters().local_ack_timeout_err == 5);
    CHECK(story.a.take_sent().size() == 5);
    CHECK(story.a.state() == engine::QpState::rts);
}

TEST_CASE("5.9.4: sequence NAKs count against retry_cnt when nothing moves") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .timeout = 8, .retry_cnt = 2});
    const Buffer from = story.a.filled(2 * 1024);
    const Buffer to = story.b.buffer(2 * 1024);
    story.lose(request(+0).always());
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    CHECK(story.count(request(+0)) == 3);
    CHECK(story.a.sent() == "wr=1 RETRY_EXC_ERR\n");
    CHECK(story.count(nak()) == 1);
}

}  // namespace rocem::test
