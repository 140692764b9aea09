// When the requester asks again, and when it gives up (rocev2 5.9.1 to 5.9.7).
#include <catch2/catch.hpp>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

constexpr engine::Duration timeout_8{4096 << 8};  // 1.05 ms
const RemoteAddress remote{0x10000, protocol::RKey(0x77)};

}  // namespace

TEST_CASE("retry: the timer counts from when the oldest request left, not from progress before that") {
    Script peer({{.timeout = 8}});
    const Buffer ready = peer.nic.filled(8);
    const Buffer slow = peer.nic.filled(8);
    peer.post(write(1, ready.all(), remote));
    REQUIRE(peer.packets().size() == 1);
    peer.nic.memory.hold();
    peer.nic.post(write(2, slow.all(), remote));
    for (int turns = 0; turns < 3; ++turns)
        peer.nic.turn(peer.now());
    peer.hear(peer.ack(0, 1));  // progress; the second WRITE waits for its bytes

    peer.run_for(timeout_8 * 9 / 10);
    peer.nic.memory.release();
    peer.settle();
    REQUIRE(peer.packets().size() == 1);  // it has left now
    peer.run_for(timeout_8 * 9 / 10);
    CHECK(peer.packets().empty());
    CHECK(peer.nic.counters().local_ack_timeout_err == 0);
    peer.run_for(timeout_8);
    CHECK(peer.packets().size() == 1);
    CHECK(peer.nic.counters().local_ack_timeout_err == 1);
    CHECK(peer.nic.counters().retransmitted_packets == 1);
}

TEST_CASE("retry: bytes that never come do not use up the retries of what has not been sent") {
    Script peer({{.timeout = 8, .retry_cnt = 1}});
    const Buffer ready = peer.nic.filled(8);
    const Buffer stuck = peer.nic.filled(8);
    peer.post(write(1, ready.all(), remote));
    peer.nic.memory.hold();
    peer.nic.post(write(2, stuck.all(), remote));
    for (int turns = 0; turns < 3; ++turns)
        peer.nic.turn(peer.now());
    peer.hear(peer.ack(0, 1));
    peer.run_for(timeout_8 * 100);
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(peer.nic.state() == engine::QpState::rts);
    CHECK(peer.nic.counters().local_ack_timeout_err == 0);
}

TEST_CASE("retry: a packet that was cancelled before it left is no retransmission") {
    Script peer({{.timeout = 8}});
    const Buffer ready = peer.nic.filled(8);
    const Buffer slow = peer.nic.filled(8);
    peer.post(write(1, ready.all(), remote));
    peer.nic.memory.hold();
    peer.nic.post(write(2, slow.all(), remote));
    for (int turns = 0; turns < 3; ++turns)
        peer.nic.turn(peer.now());
    peer.hear(peer.ack(0, 0, syndrome_psn_sequence));  // go back to the first: the second's frame is void
    peer.nic.memory.release();
    peer.settle();
    CHECK(peer.says() == "WRITE_ONLY psn=+0\nWRITE_ONLY psn=+0\nWRITE_ONLY psn=+1\n");
    CHECK(peer.nic.counters().retransmitted_packets == 1);
}

TEST_CASE("retry: late answers after a timeout of a READ do not ask again, nor spend another retry") {
    Script peer({{.timeout = 8}});
    const Buffer to = peer.nic.buffer(3 * 1024);
    peer.post(read(1, to.all(), remote));
    peer.nic.stop_transmitting(true);
    peer.run_for(timeout_8 * 4);  // asks again, as soon as it may
    REQUIRE(peer.nic.counters().local_ack_timeout_err == 1);
    peer.hear(peer.response(Op::read_response_middle, 1, 1024));  // the first is missing
    peer.hear(peer.response(Op::read_response_last, 2, 1024));
    CHECK(peer.nic.counters().implied_nak_seq_err == 0);
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK(peer.packets().size() == 2);
}

TEST_CASE("retry: several requests fail in one burst: the oldest gives the cause, those before it go out") {
    Script peer;
    const Buffer good = peer.nic.filled(8);
    const Buffer bad = peer.nic.filled(2048);
    peer.nic.memory.set_mode({3});
    peer.nic.memory.fault_at_byte(bad.region, 100);
    peer.nic.post(write(1, good.all(), remote));
    peer.nic.post(write(2, bad.slice(0, 512), remote));
    peer.nic.post(write(3, bad.all(), remote));
    peer.settle();
    CHECK(peer.says() == "WRITE_ONLY psn=+0\n");
    CHECK(peer.nic.sent().empty());
    peer.hear(peer.ack(0, 1));
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 LOC_PROT_ERR\nwr=3 WR_FLUSH_ERR\n");
    CHECK(peer.nic.state() == engine::QpState::error);
}

TEST_CASE("retry: rnr_retry and retry_cnt are two budgets") {
    Script peer({{.timeout = 8, .retry_cnt = 1, .rnr_retry = 1}});
    const Buffer from = peer.nic.filled(8);
    peer.post(send(1, from.all()));
    peer.hear(peer.ack(0, 0, 0x21));  // RNR NAK, 10 us
    REQUIRE(peer.run_to_deadline());  // asks again
    REQUIRE(peer.run_to_deadline());  // no answer: asks again
    CHECK(peer.nic.state() == engine::QpState::rts);
    peer.hear(peer.ack(0, 0, 0x21));
    CHECK(peer.nic.sent() == "wr=1 RNR_RETRY_EXC_ERR\n");
}

TEST_CASE("retry: a READ answered in part while it is about to be asked for again is still waited for") {
    Script peer({{.timeout = 8}});
    const Buffer from = peer.nic.filled(8);
    const Buffer to = peer.nic.buffer(3 * 1024);
    peer.post(write(1, from.all(), remote));
    peer.post(read(2, to.all(), remote));
    peer.says();
    peer.nic.memory.hold();
    peer.hear(peer.ack(0, 0, syndrome_psn_sequence));            // both again; the WRITE waits for its bytes
    peer.hear(peer.response(Op::read_response_first, 1, 1024));  // an answer to the first copies
    peer.nic.memory.release();
    peer.settle();
    CHECK(peer.says() == "READ_REQUEST psn=+1 len=3072\n");
    REQUIRE(peer.run_to_deadline());
    CHECK(peer.says() == "READ_REQUEST psn=+2 len=2048\n");
    CHECK(peer.nic.counters().local_ack_timeout_err == 1);
}

}  // namespace rocem::test
