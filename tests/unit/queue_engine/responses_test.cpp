// The queue of answers: what is joined, what is bounded, what a change of the limits does to it.
#include <catch2/catch.hpp>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

engine::Error change_limit(Script& peer, std::uint8_t max_dest_rd_atomic) {
    if (peer.nic.state() == engine::QpState::rts) {
        REQUIRE(peer.modify(engine::QpState::sqd) == engine::Error::none);
    }
    engine::QpAttributes wanted = peer.attributes();
    wanted.max_dest_rd_atomic = max_dest_rd_atomic;
    return peer.nic.engine.modify_qp(peer.now(), peer.nic.qp(), wanted, engine::attr_max_dest_rd_atomic);
}

}  // namespace

TEST_CASE("responses: ACKs that would leave next to each other are one, the newest (5.8.11)") {
    Script peer;
    const Buffer to = peer.nic.buffer(64);
    peer.nic.stop_transmitting(true);
    for (std::int32_t psn = 0; psn < 5; ++psn)
        peer.hear(peer.request(Op::write_only, psn, 8, to, 8));
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK(peer.says() == "ACK psn=+4 msn=5\n");
    CHECK(peer.nic.counters().acks_sent == 1);
}

TEST_CASE("responses: an ACK is not joined across an answer that stands between") {
    Script peer;
    const Buffer to = peer.nic.buffer(64);
    peer.nic.stop_transmitting(true);
    peer.hear(peer.request(Op::write_only, 0, 8, to, 8));
    peer.hear(peer.request(Op::read_request, 1, 0, to, 8));
    peer.hear(peer.request(Op::write_only, 2, 8, to, 8));
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK(peer.says() == "ACK psn=+0 msn=1\nREAD_RESPONSE_ONLY psn=+1 msn=2\nACK psn=+2 msn=3\n");
}

TEST_CASE("responses: a peer that listens to nothing does not make the queue of answers grow") {
    // A NAK and an ACK for each pair of packets, and nothing may leave.
    Script peer;
    const Buffer to = peer.nic.buffer(64);
    peer.nic.stop_transmitting(true);
    for (std::int32_t psn = 0; psn < 5'000; ++psn) {
        peer.hear(peer.request(Op::write_only, psn + 1, 8, to, 8));
        peer.hear(peer.request(Op::write_only, psn, 8, to, 8));
    }
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK(peer.packets().size() <= 64);
    // It works on.
    peer.hear(peer.request(Op::write_only, 5'000, 8, to, 8));
    CHECK(peer.says() == "ACK psn=+5000 msn=5001\n");
}

TEST_CASE("responses: duplicate READs beyond the room for answers are dropped by name") {
    Script peer({{.max_dest_rd_atomic = 2}});
    const Buffer from = peer.nic.filled(64);
    peer.hear(peer.request(Op::read_request, 0, 0, from, 64));
    peer.says();
    peer.nic.stop_transmitting(true);
    for (int i = 0; i < 100; ++i)
        peer.hear(peer.request(Op::read_request, 0, 0, from, 64));
    const std::uint64_t dropped = peer.nic.drops(protocol::DropReason::duplicate_queue_full);
    CHECK(dropped > 0);
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK(peer.packets().size() == 100 - dropped);
}

TEST_CASE("responses: max_dest_rd_atomic may change in SQD while answers are under way") {
    const auto changed = GENERATE(as<std::uint8_t>{}, 0, 1, 3, 16);
    CAPTURE(static_cast<int>(changed));
    Script peer({{.max_dest_rd_atomic = 4}});
    const Buffer bytes = peer.nic.filled(64);
    peer.nic.memory.hold();
    peer.nic.stop_transmitting(true);
    peer.hear(peer.request(Op::write_only, 0, 8, bytes, 8));  // waits for memory, and all behind it
    peer.hear(peer.request(Op::read_request, 1, 0, bytes, 16));
    peer.hear(peer.request(Op::read_request, 2, 0, bytes, 16));
    peer.hear(peer.request(Op::fetch_add, 3, 0, bytes, 0));
    peer.hear(peer.request(Op::read_request, 4, 0, bytes, 16));
    REQUIRE(change_limit(peer, changed) == engine::Error::none);
    peer.nic.memory.release();
    peer.settle();
    peer.nic.stop_transmitting(false);
    peer.settle();
    const auto said = peer.packets();
    REQUIRE(said.size() == 5);
    for (std::size_t i = 0; i < said.size(); ++i)
        CHECK(psn_distance(said[i].psn, 0x4000) == static_cast<std::int32_t>(i));
    // What was answered may still be asked for again.
    peer.hear(peer.request(Op::read_request, 1, 0, bytes, 16));
    CHECK(peer.says() == "READ_RESPONSE_ONLY psn=+1 msn=5\n");
    // The new limit holds.
    peer.nic.stop_transmitting(true);
    for (std::int32_t i = 0; i <= changed && i < 16; ++i)
        peer.hear(peer.request(Op::read_request, 5 + i, 0, bytes, 16));
    peer.nic.stop_transmitting(false);
    peer.settle();
    CHECK((peer.nic.state() == engine::QpState::error) == (changed < 16));
}

TEST_CASE("responses: a request dropped for want of room is a gap like any other, with its own NAK") {
    Script peer({{.mtu = 256, .dma_ops_max = 64}});
    const Buffer to = peer.nic.buffer(256);
    peer.nic.memory.hold();
    std::int32_t psn = 0;
    while (peer.nic.drops(protocol::DropReason::backlog_full) == 0) {
        REQUIRE(psn < 64);
        peer.hear(peer.request(Op::write_only, psn++, 256, to, 256));
    }
    const std::int32_t dropped = psn - 1;
    peer.nic.memory.release();
    peer.settle();
    peer.packets();
    peer.hear(peer.request(Op::write_only, dropped + 1, 256, to, 256));
    CHECK(peer.says() ==
          "NAK_PSN_SEQUENCE psn=+" + std::to_string(dropped) + " msn=" + std::to_string(dropped) + "\n");
    peer.hear(peer.request(Op::write_only, dropped, 256, to, 256));
    CHECK(peer.says() ==
          "ACK psn=+" + std::to_string(dropped) + " msn=" + std::to_string(dropped + 1) + "\n");
}

TEST_CASE(
    "responses: a fault in a READ's memory is told of, though a later request has already ended the QP") {
    Script peer;
    const Buffer from = peer.nic.filled(4 * 1024);
    peer.nic.memory.hold();
    peer.nic.memory.fault_at_byte(from.region, 1024);
    peer.hear(peer.request(Op::read_request, 0, 0, from, 4 * 1024));
    RocePacket wrong_key = peer.request(Op::write_only, 4, 8, from, 8);
    wrong_key.r_key ^= 0x100;
    peer.hear(wrong_key);
    CHECK(peer.nic.state() == engine::QpState::error);
    peer.nic.memory.release();
    peer.settle();
    CHECK(peer.says() == "READ_RESPONSE_FIRST psn=+0 msn=1\nNAK_REMOTE_OPERATIONAL psn=+1 msn=1\n");
}

}  // namespace rocem::test
