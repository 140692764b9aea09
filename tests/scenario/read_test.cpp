// READ: responses lost, doubled and overtaken, and the re-issue from the gap (rocev2.md 5.8.2, 5.9.6, 5.9.7).
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {

TEST_CASE("5.9.7: a gap in the responses is an implied NAK, the READ is asked for again from there") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t first = GENERATE(100u, 0xffffffu);
    Story story({.dma = dma, .first_psn = first});
    const Buffer from = story.b.filled(4 * 1024 + 5);
    const Buffer to = story.a.buffer(4 * 1024 + 5);

    story.lose(read_response(+1));
    story.a.post(read(1, to.all(), from.at()));
    story.run();

    CHECK(story.requests() == lines(R"(
        A>B READ_REQUEST psn=+0 len=4101
        A>B READ_REQUEST psn=+1 len=3077
    )"));
    const auto requests = story.sightings(any_request());
    REQUIRE(requests.size() == 2);
    CHECK(requests[1].packet.va == from.va + 1024);
    CHECK(story.a.counters().implied_nak_seq_err == 1);
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.b.counters().duplicate_request == 1);
    CHECK(story.a.sent() == "wr=1 RDMA_READ ok len=4101\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.9.2: the last responses lost: the timer asks from the first missing one") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.b.filled(4 * 1024);
    const Buffer to = story.a.buffer(4 * 1024);
    story.lose(read_response(+2));
    story.lose(read_response(+3));
    story.a.post(read(1, to.all(), from.at()));
    story.run();
    CHECK(story.requests() == lines(R"(
        A>B READ_REQUEST psn=+0 len=4096
        A>B READ_REQUEST psn=+2 len=2048
    )"));
    CHECK(story.a.counters().local_ack_timeout_err == 1);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.9.6: an ACK beyond an unanswered READ is an implied NAK") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.b.filled(1024);
    const Buffer to = story.a.buffer(1024);
    const Buffer target = story.b.buffer(1024);
    story.lose(read_response(+1));
    story.a.post(write(1, to.slice(0, 8), target.at()));
    story.a.post(read(2, to.all(), from.at()));
    story.a.post(write(3, to.slice(0, 8), target.at()));
    story.run();
    CHECK(story.a.counters().implied_nak_seq_err == 1);
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.a.sent() == lines(R"(
        wr=1 RDMA_WRITE ok
        wr=2 RDMA_READ ok len=1024
        wr=3 RDMA_WRITE ok
    )"));
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.9.6: a READ response acknowledges what came before it") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.b.filled(8);
    const Buffer to = story.a.buffer(8);
    const Buffer target = story.b.buffer(8);
    story.lose(ack());
    story.a.post(write(1, to.all(), target.at()));
    story.a.post(read(2, to.all(), from.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_READ ok len=8\n");
    CHECK(story.a.counters().local_ack_timeout_err == 0);
}

TEST_CASE("5.8.10: answers leave in PSN order, an ACK never before the READ response ahead of it") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.b.filled(2000);
    const Buffer to = story.a.buffer(2000);
    const Buffer word = story.a.buffer(8);
    const Buffer target = story.b.buffer(8);
    story.b.post(receive(7, target.all()));
    story.a.post(read(1, to.all(), from.at()));
    story.a.post(send(2, word.all()));
    story.a.post(fetch_add(3, word.all(), target.at(), 1));
    story.a.post(read(4, to.slice(0, 300), from.at()));
    story.a.post(write(5, word.all(), target.at()));
    story.run();
    std::int32_t last = -1;
    for (const Sighting& answer : story.sightings({Side::b, FrameKind::any, {}})) {
        CAPTURE(describe(answer));
        CHECK(answer.psn > last);
        last = answer.psn;
    }
    CHECK(last == 12);  // 8 + 1 + 1 + 2 + 1 packets
    CHECK(story.a.sent() == lines(R"(
        wr=1 RDMA_READ ok len=2000
        wr=2 SEND ok
        wr=3 FETCH_ADD ok len=8
        wr=4 RDMA_READ ok len=300
        wr=5 RDMA_WRITE ok
    )"));
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("an 8 MiB READ through 1 % loss ends, for it never starts from scratch") {
    const DmaMode dma = GENERATE(DmaMode{0}, DmaMode{3});
    Story story({.dma = dma, .mtu = 4096, .timeout = 8});
    constexpr std::size_t size = 8u << 20;
    const Buffer from = story.b.filled(size);
    const Buffer to = story.a.buffer(size);
    story.wire.set_weather({.lost = 0.01});
    story.wire.keep_log(false);
    story.a.post(read(1, to.all(), from.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_READ ok len=8388608\n");
    CHECK(same_bytes(to.bytes, from.bytes));
    // 2048 responses; each of some twenty repairs costs what was in flight, never the whole READ for ever.
    CHECK(story.wire.frames_sent(Side::b) < 100'000);
}

TEST_CASE("5.9.8: no more than max_rd_atomic READs and atomics are on the way") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint8_t limit = GENERATE(as<std::uint8_t>(), 1, 2, 4);
    Story story({.dma = dma, .max_rd_atomic = limit, .max_dest_rd_atomic = limit});
    const Buffer from = story.b.filled(64);
    const Buffer to = story.a.buffer(64);
    for (std::uint64_t id = 1; id <= 8; ++id) {
        const auto slot = static_cast<std::uint32_t>((id - 1) * 8);
        if (id % 2 == 0) {
            story.a.post(read(id, to.slice(slot, 8), from.at(slot)));
        } else {
            story.a.post(fetch_add(id, to.slice(slot, 8), from.at(slot), 0));
        }
    }
    story.run();
    unsigned outstanding = 0;
    unsigned most = 0;
    for (const Sighting& sighting : story.wire.log()) {
        outstanding += sighting.from == Side::a ? 1 : -1u;
        most = std::max(most, outstanding);
    }
    CHECK(most == limit);
    CHECK(story.a.take_sent().size() == 8);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.8.9: more READs than max_dest_rd_atomic are an invalid request") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint8_t allowed = GENERATE(as<std::uint8_t>(), 0, 1, 2);
    Story story({.dma = dma, .max_rd_atomic = 4, .max_dest_rd_atomic = allowed});
    const Buffer from = story.b.filled(4096);
    const Buffer to = story.a.buffer(4096);
    for (std::uint64_t id = 1; id <= 4; ++id)
        story.a.post(read(id, to.all(), from.at()));
    story.run();
    REQUIRE(story.count(nak()) == 1);
    CHECK(story.sightings(nak())[0].packet.syndrome == syndrome_invalid_request);
    const auto completions = story.a.take_sent();
    REQUIRE(completions.size() == 4);
    // READs that were accepted before the refused one are answered first (5.8.10).
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i, describe(completions[i]));
        CHECK(completions[i].wr_id == i + 1);
        const auto expected = i < allowed    ? engine::WcStatus::success
                              : i == allowed ? engine::WcStatus::remote_invalid_request_error
                                             : engine::WcStatus::flush_error;
        CHECK(name_of(completions[i].status) == name_of(expected));
    }
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(story.b.state() == engine::QpState::error);
}

TEST_CASE("5.9.10: a fenced request waits for the READs and atomics before it") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool fenced = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer from = story.b.filled(3000);
    const Buffer to = story.a.buffer(3000);
    const Buffer target = story.b.buffer(8);
    story.a.post(read(1, to.all(), from.at()));
    auto follower = write(2, to.slice(0, 8), target.at());
    story.a.post(fenced ? std::move(follower).fenced() : std::move(follower));
    story.run();
    const auto responses = story.sightings(read_response(+2));
    const auto writes = story.sightings(request(+3));
    REQUIRE(responses.size() == 1);
    REQUIRE(writes.size() == 1);
    CHECK((writes[0].time > responses[0].time) == fenced);
    // A fence also means that the WRITE sends what the READ has brought.
    if (fenced) CHECK(same_bytes(target.bytes, from.bytes.first(8)));
    CHECK(story.a.sent() == "wr=1 RDMA_READ ok len=3000\nwr=2 RDMA_WRITE ok\n");
}

}  // namespace rocem::test
