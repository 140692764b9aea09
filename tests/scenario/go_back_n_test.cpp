// Lost, doubled and late frames of SEND and WRITE, and what both sides do about them
// (rocev2.md 5.8.1, 5.8.2, 5.9.2, 5.9.4; the row psn-wrap).
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {

TEST_CASE("psn-wrap: a loss at PSN 0 costs one NAK and the packets from there on") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .first_psn = 0xfffffe});
    const Buffer from = story.a.filled(4096);
    const Buffer to = story.b.buffer(4096);

    story.lose(request(+2));
    story.a.post(write(1, from.all(), to.at()));
    story.run();

    CHECK(story.requests() == lines(R"(
        A>B WRITE_FIRST psn=+0
        A>B WRITE_MIDDLE psn=+1
        A>B WRITE_MIDDLE psn=+2 lost
        A>B WRITE_LAST psn=+3
        A>B WRITE_MIDDLE psn=+2
        A>B WRITE_LAST psn=+3
    )"));
    CHECK(story.log_from(Side::b) == lines(R"(
        B>A NAK_PSN_SEQUENCE psn=+2 msn=0
        B>A ACK psn=+3 msn=1
    )"));
    const auto naks = story.sightings(nak());
    REQUIRE(naks.size() == 1);
    CHECK(naks[0].packet.psn == 0);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
    CHECK(story.a.counters().retransmission_rounds == 1);
    CHECK(story.a.counters().packet_seq_err == 1);
    CHECK(story.a.counters().retransmitted_packets == 2);
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.b.counters().seq_naks_sent == 1);
    CHECK(story.b.counters().out_of_sequence == 1);
}

TEST_CASE("5.8.1: one NAK for a gap, then silence until the expected PSN comes") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.a.filled(256 * 20);
    const Buffer to = story.b.buffer(256 * 20);

    story.lose(request(+3));
    story.a.post(write(1, from.all(), to.at()));
    story.run();

    CHECK(story.log_from(Side::b) == lines(R"(
        B>A NAK_PSN_SEQUENCE psn=+3 msn=0
        B>A ACK psn=+19 msn=1
    )"));
    CHECK(story.b.counters().out_of_sequence == 16);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.8.1: a second gap behind the first draws a NAK of its own") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.a.filled(256 * 10);
    const Buffer to = story.b.buffer(256 * 10);

    story.lose(request(+3));
    story.lose(request(+6).iteration(2));
    story.a.post(write(1, from.all(), to.at()));
    story.run();

    CHECK(story.log_from(Side::b) == lines(R"(
        B>A NAK_PSN_SEQUENCE psn=+3 msn=0
        B>A NAK_PSN_SEQUENCE psn=+6 msn=0
        B>A ACK psn=+9 msn=1
    )"));
    CHECK(story.a.counters().packet_seq_err == 2);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("a lost NAK is healed by the ack timeout, and draws no second NAK") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);

    story.lose(request(+1));
    story.lose(nak());
    story.a.post(write(1, from.all(), to.at()));
    story.run();

    CHECK(story.requests() == lines(R"(
        A>B WRITE_FIRST psn=+0
        A>B WRITE_MIDDLE psn=+1 lost
        A>B WRITE_LAST psn=+2
        A>B WRITE_FIRST psn=+0
        A>B WRITE_MIDDLE psn=+1
        A>B WRITE_LAST psn=+2
    )"));
    CHECK(story.count(nak()) == 1);
    CHECK(story.b.counters().duplicate_request == 1);
    CHECK(story.a.counters().local_ack_timeout_err == 1);
    CHECK(story.since_start() >= 67'108'864ns);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("the whole flight lost: the timer brings it back") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(2 * 1024);
    const Buffer to = story.b.buffer(2 * 1024);
    story.lose(any_request().times(2));
    story.b.post(receive(7, to.all()));
    story.a.post(send(1, from.all()));
    story.run();
    CHECK(story.log() == lines(R"(
        A>B SEND_FIRST psn=+0 lost
        A>B SEND_LAST psn=+1 lost
        A>B SEND_FIRST psn=+0
        A>B SEND_LAST psn=+1
        B>A ACK psn=+1 msn=1
    )"));
    CHECK(story.b.received() == "wr=7 RECV ok len=2048\n");
}

TEST_CASE("5.8.2: a duplicate SEND is answered and not executed (C9-105)") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.b.post(receive(7, to.all()));
    story.b.post(receive(8, to.all()));

    story.lose(ack());
    story.a.post(send(1, from.all()));
    story.run();

    CHECK(story.log() == lines(R"(
        A>B SEND_ONLY psn=+0
        B>A ACK psn=+0 msn=1 lost
        A>B SEND_ONLY psn=+0
        B>A ACK psn=+0 msn=1
    )"));
    CHECK(story.b.received() == "wr=7 RECV ok len=8\n");
    CHECK(story.a.sent() == "wr=1 SEND ok\n");
    CHECK(story.b.counters().duplicate_request == 1);
}

TEST_CASE("a doubled frame changes nothing but a counter") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::int32_t which = GENERATE(0, 1, 2);
    Story story({.dma = dma});
    const Buffer from = story.a.filled(3 * 1024);
    const Buffer to = story.b.buffer(3 * 1024);
    story.b.post(receive(7, to.all()));
    story.b.post(receive(8, to.all()));
    story.duplicate(request(which));
    story.a.post(send(1, from.all()));
    story.run();
    CHECK(story.count(any_request()) == 3);
    CHECK(story.b.counters().duplicate_request == 1);
    CHECK(story.b.received() == "wr=7 RECV ok len=3072\n");
    CHECK(story.a.sent() == "wr=1 SEND ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("a doubled or late ACK completes nothing twice") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool late = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    if (late) {
        story.delay(ack(), 1);
    } else {
        story.duplicate(ack());
    }
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(20us);
    story.a.post(write(2, from.all(), to.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
    CHECK(story.count(any_request()) == 2);
    CHECK(story.a.counters().retransmission_rounds == 0);
}

TEST_CASE("reorder: a request overtaken by later ones is asked for again, without a timeout") {
    const DmaMode dma = ANY_DMA_MODE();
    const unsigned behind = GENERATE(1u, 2u, 4u);
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.a.filled(256 * 8);
    const Buffer to = story.b.buffer(256 * 8);
    story.delay(request(+2), behind);
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    CHECK(story.b.counters().seq_naks_sent >= 1);
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.5: a corrupted frame is a lost frame") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(2 * 1024);
    const Buffer to = story.b.buffer(2 * 1024);
    SECTION("request") {
        story.corrupt(request(+0));
        story.a.post(write(1, from.all(), to.at()));
        story.run();
        CHECK(story.log() == lines(R"(
            A>B WRITE_FIRST psn=+0 corrupted
            A>B WRITE_LAST psn=+1
            B>A NAK_PSN_SEQUENCE psn=+0 msn=0
            A>B WRITE_FIRST psn=+0
            A>B WRITE_LAST psn=+1
            B>A ACK psn=+1 msn=1
        )"));
    }
    SECTION("answer") {
        story.corrupt(ack());
        story.a.post(write(1, from.all(), to.at()));
        story.run();
        CHECK(story.a.counters().local_ack_timeout_err == 1);
    }
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("5.8.11: a later ACK covers a lost one, nothing is resent") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(ack());
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(20us);
    story.a.post(write(2, from.all(), to.at()));
    story.run();
    CHECK(story.log() == lines(R"(
        A>B WRITE_ONLY psn=+0
        B>A ACK psn=+0 msn=1 lost
        A>B WRITE_ONLY psn=+1
        B>A ACK psn=+1 msn=2
    )"));
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
    CHECK(story.a.counters().local_ack_timeout_err == 0);
}

TEST_CASE("the circle of PSNs: a loss at every packet of a message that crosses 2^23 or 2^24") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t first = GENERATE(0x7ffffeu, 0xfffffeu, 0u);
    for (std::int32_t lost = 0; lost < 5; ++lost) {
        CAPTURE(lost);
        Story story({.dma = dma, .mtu = 256, .first_psn = first});
        const Buffer from = story.a.filled(256 * 5);
        const Buffer to = story.b.buffer(256 * 5);
        story.lose(request(lost));
        story.b.post(receive(7, to.all()));
        story.a.post(send(1, from.all()));
        story.run();
        CHECK(story.a.sent() == "wr=1 SEND ok\n");
        CHECK(story.b.received() == "wr=7 RECV ok len=1280\n");
        CHECK(same_bytes(to.bytes, from.bytes));
        // The last packet of a message leaves no gap to NAK: the timer finds it.
        CHECK(story.a.counters().packet_seq_err == (lost == 4 ? 0 : 1));
        CHECK(story.a.counters().local_ack_timeout_err == (lost == 4 ? 1 : 0));
    }
}

}  // namespace rocem::test
