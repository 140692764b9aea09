// The requester's window of PSNs: what is outstanding, what may be acknowledged, where sending resumes.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/script.hpp"
#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// One READ of so many bytes, of which the peer has heard the request.
struct LongRead {
    Script peer;
    Buffer to;

    explicit LongRead(std::uint64_t bytes, std::uint32_t first_psn = 100)
        : peer({{.mtu = 256, .first_psn = first_psn}}), to(peer.nic.phantom(bytes)) {
        SgeList sges{engine::Sge{to.va, static_cast<std::uint32_t>(bytes), to.mr.l_key}};
        peer.post(read(1, std::move(sges), {0x10000, protocol::RKey(0x77)}));
    }
};

}  // namespace

TEST_CASE("send queue: a READ of 2^31 bytes at MTU 256 goes out in parts, one after the other") {
    // 2^23 PSNs would be half the number space (rocev2 5.3).
    LongRead story(2 * gib);
    const auto said = story.peer.packets();
    REQUIRE(said.size() == 1);
    CHECK(said[0].opcode == Op::read_request);
    CHECK(said[0].dma_length == gib / 2);
    CHECK(said[0].va == 0x10000);
}

TEST_CASE("send queue: asked for again inside a part, a long READ is divided at the same places") {
    LongRead story(2 * gib);
    story.peer.packets();
    story.peer.hear(story.peer.response(Op::read_response_first, 0, 256));
    story.peer.hear(story.peer.response(Op::read_response_middle, 2, 256));  // 1 is missing
    const auto said = story.peer.packets();
    REQUIRE(said.size() == 1);
    CHECK(said[0].psn == 101);
    CHECK(said[0].va == 0x10000 + 256);
    CHECK(said[0].dma_length == gib / 2 - 256);
}

TEST_CASE("send queue: what is outstanding stays inside half the number space") {
    // READs of 2^19 PSNs each: eight make 2^22, however many may be outstanding.
    Script peer({{.mtu = 256, .max_rd_atomic = 16}});
    const Buffer to = peer.nic.phantom(gib / 8);
    for (std::uint64_t id = 1; id <= 12; ++id) {
        peer.post(read(id, {engine::Sge{to.va, static_cast<std::uint32_t>(gib / 8), to.mr.l_key}},
                       {0x10000, protocol::RKey(0x77)}));
    }
    const auto said = peer.packets();
    CHECK(said.size() == 8);
    for (std::size_t i = 0; i < said.size(); ++i)
        CHECK(said[i].psn == 100 + (i << 19));
}

TEST_CASE("send queue: an ACK for what was never sent changes nothing, also while frames are being built") {
    Script peer;
    const Buffer from = peer.nic.filled(4 * 1024);
    peer.nic.memory.hold();
    peer.nic.post(write(1, from.all(), {0x10000, protocol::RKey(0x77)}));
    for (int turns = 0; turns < 5; ++turns)
        peer.nic.turn(peer.now());
    // Four frames are built and none has left.
    peer.nic.deliver(peer.frame_of(peer.ack(3, 1)));
    peer.nic.turn(peer.now());
    CHECK(peer.nic.take_drops() == std::vector{protocol::DropReason::ghost_response});
    peer.nic.memory.release();
    peer.settle();
    CHECK(peer.packets().size() == 4);
    CHECK(peer.nic.sent().empty());
    peer.hear(peer.ack(3, 1));
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("send queue: a response behind a gap completes what it acknowledges all the same") {
    Script peer;
    const Buffer from = peer.nic.filled(64);
    const Buffer to = peer.nic.buffer(2048);
    const RemoteAddress remote{0x10000, protocol::RKey(0x77)};
    peer.post(write(1, from.all(), remote));
    peer.post(read(2, to.all(), remote));
    peer.hear(peer.response(Op::read_response_last, 2, 1024));  // FIRST and the WRITE's ACK are lost
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(peer.nic.counters().implied_nak_seq_err == 1);
}

TEST_CASE("send queue: an ACK that passes the place where sending resumes is not answered with old packets") {
    Script peer;
    const Buffer from = peer.nic.filled(4 * 1024);
    peer.post(write(1, from.all(), {0x10000, protocol::RKey(0x77)}));
    peer.packets();
    peer.nic.stop_transmitting(true);
    peer.hear(peer.ack(1, 0, syndrome_psn_sequence));  // go back to packet 1
    peer.hear(peer.ack(2, 0));                         // it was only late
    peer.nic.stop_transmitting(false);
    peer.settle();
    const auto said = peer.packets();
    REQUIRE(said.size() == 1);
    CHECK(said[0].psn == 103);
}

TEST_CASE("send queue: an atomic's result does not outlive its request in the wrong memory") {
    // The result waits for client memory while its QP ends and the next one's atomic takes its place.
    Script peer;
    const Buffer first = peer.nic.buffer(8);
    peer.post(fetch_add(1, first.all(), {0x10000, protocol::RKey(0x77)}, 1));
    peer.nic.memory.hold();
    RocePacket answer = peer.response(Op::atomic_acknowledge, 0);
    answer.original = 0x1122334455667788;
    peer.nic.deliver(peer.frame_of(answer));
    for (int turns = 0; turns < 3; ++turns)
        peer.nic.turn(peer.now());
    REQUIRE(peer.modify(engine::QpState::error) == engine::Error::none);
    peer.nic.memory.release();
    peer.settle();
    std::uint64_t written = 0;
    std::memcpy(&written, first.bytes.data(), sizeof written);
    CHECK(written == 0x1122334455667788);
    CHECK(peer.nic.sent() == "wr=1 WR_FLUSH_ERR\n");
}

}  // namespace rocem::test
