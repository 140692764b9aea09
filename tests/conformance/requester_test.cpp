// The requester and completer against a peer that is no engine: rocev2.md 5.9, rule by rule.
#include <catch2/catch.hpp>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

// A script whose NIC has so many WRITEs of 8 bytes under way, wr 1 at PSN 0.
struct Writes {
    explicit Writes(std::uint64_t count, const ScriptOptions& options = {})
        : peer(options), local(peer.nic.filled(4096)) {
        for (std::uint64_t id = 1; id <= count; ++id) {
            peer.post(write(id, local.slice(0, 8), {0x1000, protocol::RKey(7)}));
        }
        said = peer.says();
    }
    Script peer;
    Buffer local;
    std::string said;
};

RocePacket read_answer(const Script& peer, Op opcode, std::int32_t psn, std::size_t payload) {
    RocePacket packet = peer.response(opcode, psn, payload);
    packet.msn = 1;
    return packet;
}

}  // namespace

TEST_CASE("5.9.6: one ACK completes all that came before it") {
    Writes story(5, {{.dma = ANY_DMA_MODE()}});
    story.peer.hear(story.peer.ack(+2, 3));
    CHECK(story.peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\nwr=3 RDMA_WRITE ok\n");
    story.peer.hear(story.peer.ack(+4, 5));
    CHECK(story.peer.nic.sent() == "wr=4 RDMA_WRITE ok\nwr=5 RDMA_WRITE ok\n");
    CHECK(story.peer.nic.engine.next_deadline() == engine::never);
}

TEST_CASE("5.9.6: an ACK inside a message moves the window and completes nothing") {
    Script peer({{.dma = ANY_DMA_MODE(), .timeout = 14}});
    const Buffer local = peer.nic.filled(4096);
    peer.post(write(1, local.all(), {0x1000, protocol::RKey(7)}));
    peer.says();
    peer.hear(peer.ack(+1, 0));
    CHECK(peer.nic.sent() == "");
    REQUIRE(peer.run_to_deadline());
    // 5.9.2: from the oldest unacknowledged packet, not from the start of the message.
    CHECK(peer.says() == "WRITE_MIDDLE psn=+2\nWRITE_LAST psn=+3\n");
    peer.hear(peer.ack(+3, 1));
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("ghost ACKs: PSNs that are not outstanding change nothing") {
    const std::int32_t psn = GENERATE(-1, -5, 2, 3, 1000, 0x7fffff, -0x7fffff);
    const std::uint8_t syndrome = GENERATE(as<std::uint8_t>(), 0x1f, 0x60, 0x62, 0x2c);
    CAPTURE(psn, int{syndrome});
    if (psn == -1 && syndrome == syndrome_ack) return;  // says nothing new, but is no ghost
    if (psn == 2 && syndrome == syndrome_psn_sequence) return;
    Writes story(2);
    story.peer.hear(story.peer.ack(psn, 9, syndrome));
    CHECK(story.peer.says() == "");
    CHECK(story.peer.nic.sent() == "");
    CHECK(story.peer.nic.state() == engine::QpState::rts);
    story.peer.hear(story.peer.ack(+1, 2));
    CHECK(story.peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
}

TEST_CASE("ghost responses: data that nobody asked for is dropped") {
    const Op opcode = GENERATE(Op::read_response_only, Op::read_response_first, Op::atomic_acknowledge);
    Writes story(0);
    story.peer.hear(read_answer(story.peer, opcode, 0, opcode == Op::atomic_acknowledge ? 0 : 1024));
    CHECK(story.peer.nic.take_drops().size() == 1);
    CHECK(story.peer.nic.state() == engine::QpState::rts);
    CHECK(same_bytes(story.local.bytes, pattern(4096)));
}

TEST_CASE("5.9.5: fatal NAKs: earlier requests complete, this one says why, the rest is flushed") {
    struct Row {
        std::uint8_t syndrome;
        const char* status;
    };
    const Row row = GENERATE(values<Row>({{syndrome_invalid_request, "REM_INV_REQ_ERR"},
                                          {syndrome_remote_access, "REM_ACCESS_ERR"},
                                          {syndrome_remote_operational, "REM_OP_ERR"}}));
    Writes story(4, {{.dma = ANY_DMA_MODE()}});
    story.peer.hear(story.peer.ack(+1, 1, row.syndrome));
    CHECK(story.peer.nic.sent() ==
          std::string("wr=1 RDMA_WRITE ok\nwr=2 ") + row.status + "\nwr=3 WR_FLUSH_ERR\nwr=4 WR_FLUSH_ERR\n");
    CHECK(story.peer.nic.state() == engine::QpState::error);
    CHECK(story.peer.nic.engine.next_deadline() == engine::never);
    CHECK(story.peer.says() == "");
}

TEST_CASE("5.9.4: a sequence NAK acknowledges what is before it, and sends again from there") {
    Writes story(4, {{.dma = ANY_DMA_MODE()}});
    story.peer.hear(story.peer.ack(+2, 2, syndrome_psn_sequence));
    CHECK(story.peer.says() == "WRITE_ONLY psn=+2\nWRITE_ONLY psn=+3\n");
    CHECK(story.peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
    CHECK(story.peer.nic.counters().packet_seq_err == 1);
}

TEST_CASE("5.9.4: sequence NAKs without progress are counted against retry_cnt") {
    Writes story(2, {{.retry_cnt = 3}});
    for (int i = 0; i < 3; ++i) {
        story.peer.hear(story.peer.ack(0, 0, syndrome_psn_sequence));
        CHECK(story.peer.says() == "WRITE_ONLY psn=+0\nWRITE_ONLY psn=+1\n");
    }
    story.peer.hear(story.peer.ack(0, 0, syndrome_psn_sequence));
    CHECK(story.peer.says() == "");
    CHECK(story.peer.nic.sent() == "wr=1 RETRY_EXC_ERR\nwr=2 WR_FLUSH_ERR\n");
}

TEST_CASE("5.9.3: an RNR NAK stops everything from its PSN on for as long as it says") {
    Writes story(3, {{.dma = ANY_DMA_MODE()}});
    const engine::Time heard = story.peer.now();
    story.peer.hear(story.peer.ack(+1, 1, syndrome_rnr | 14));  // 1.28 ms
    CHECK(story.peer.nic.sent() == "wr=1 RDMA_WRITE ok\n");
    story.peer.post(write(4, story.local.slice(0, 8), {0x1000, protocol::RKey(7)}));
    CHECK(story.peer.says() == "");
    REQUIRE(story.peer.run_to_deadline());
    CHECK(story.peer.now() - heard >= 1280us);
    CHECK(story.peer.says() == "WRITE_ONLY psn=+1\nWRITE_ONLY psn=+2\nWRITE_ONLY psn=+3\n");
}

TEST_CASE("5.9.7: wrong answers to a READ are BAD_RESP_ERR") {
    struct Row {
        const char* name;
        Op opcode;
        std::int32_t psn;
        std::size_t payload;
    };
    const Row rows[] = {
        {"ONLY for many packets", Op::read_response_only, 0, 1024},
        {"LAST at the first", Op::read_response_last, 0, 1024},
        {"FIRST below the MTU", Op::read_response_first, 0, 1020},
        {"FIRST of nothing", Op::read_response_first, 0, 0},
        {"an atomic answer", Op::atomic_acknowledge, 0, 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        Script peer;
        const Buffer sink = peer.nic.buffer(3000);
        peer.post(read(1, sink.all(), {0x1000, protocol::RKey(7)}));
        peer.post(write(2, sink.slice(0, 8), {0x1000, protocol::RKey(7)}));
        peer.hear(read_answer(peer, row.opcode, row.psn, row.payload));
        CHECK(peer.nic.sent() == "wr=1 BAD_RESP_ERR\nwr=2 WR_FLUSH_ERR\n");
        CHECK(peer.nic.state() == engine::QpState::error);
    }
}

TEST_CASE("5.9.7: a READ whose last response is too long, too short or missing its end is BAD_RESP_ERR") {
    const auto [opcode, payload] = GENERATE(table<Op, std::size_t>(
        {{Op::read_response_last, 951}, {Op::read_response_last, 953}, {Op::read_response_middle, 1024}}));
    CAPTURE(name_of(opcode), payload);
    Script peer;
    const Buffer sink = peer.nic.buffer(3000);
    peer.post(read(1, sink.all(), {0x1000, protocol::RKey(7)}));
    peer.hear(read_answer(peer, Op::read_response_first, 0, 1024));
    peer.hear(read_answer(peer, Op::read_response_middle, 1, 1024));
    CHECK(peer.nic.sent() == "");
    peer.hear(read_answer(peer, opcode, 2, payload));
    CHECK(peer.nic.sent() == "wr=1 BAD_RESP_ERR\n");
}

TEST_CASE("5.9.7: a READ answered right, once from the start and once from the gap, by either opcodes") {
    const bool restarts = GENERATE(false, true);  // FIRST … LAST for the rest, or MIDDLE … LAST as rxe does
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer sink = peer.nic.buffer(4096);
    peer.post(read(1, sink.all(), {0x1000, protocol::RKey(7)}));
    CHECK(peer.says() == "READ_REQUEST psn=+0 len=4096\n");
    const RocePacket first = read_answer(peer, Op::read_response_first, 0, 1024);
    peer.hear(first);
    peer.hear(read_answer(peer, Op::read_response_middle, 2, 1024));  // 1 is lost
    const auto again = peer.packets();
    REQUIRE(again.size() == 1);
    CHECK(again[0].opcode == Op::read_request);
    CHECK(again[0].va == 0x1000 + 1024);
    CHECK(again[0].dma_length == 3072);
    CHECK(psn_distance(again[0].psn, first.psn) == 1);
    const Op opening = restarts ? Op::read_response_first : Op::read_response_middle;
    const RocePacket second = read_answer(peer, opening, 1, 1024);
    const RocePacket third = read_answer(peer, Op::read_response_middle, 2, 1024);
    const RocePacket fourth = read_answer(peer, Op::read_response_last, 3, 1024);
    peer.hear(second);
    peer.hear(third);
    peer.hear(fourth);
    CHECK(peer.nic.sent() == "wr=1 RDMA_READ ok len=4096\n");
    CHECK(same_bytes(sink.bytes.subspan(1024, 1024), second.payload));
    CHECK(same_bytes(sink.bytes.subspan(3072, 1024), fourth.payload));
    CHECK(peer.nic.counters().implied_nak_seq_err == 1);
}

TEST_CASE("5.9.6: an ACK beyond a READ that has no answer yet is an implied NAK") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer sink = peer.nic.buffer(8);
    peer.post(read(1, sink.all(), {0x1000, protocol::RKey(7)}));
    peer.post(write(2, sink.all(), {0x1000, protocol::RKey(7)}));
    peer.says();
    peer.hear(peer.ack(+1, 2));
    CHECK(peer.says() == "READ_REQUEST psn=+0 len=8\nWRITE_ONLY psn=+1\n");
    CHECK(peer.nic.counters().implied_nak_seq_err == 1);
    CHECK(peer.nic.sent() == "");
    peer.hear(read_answer(peer, Op::read_response_only, 0, 8));
    CHECK(peer.nic.sent() == "wr=1 RDMA_READ ok len=8\n");
    peer.hear(peer.ack(+1, 2));
    CHECK(peer.nic.sent() == "wr=2 RDMA_WRITE ok\n");
}

TEST_CASE("5.9.11: a SEND behind a READ waits with its completion, however early its ACK comes") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer sink = peer.nic.buffer(8);
    peer.post(write(1, sink.all(), {0x1000, protocol::RKey(7)}));
    peer.post(read(2, sink.all(), {0x1000, protocol::RKey(7)}));
    // The response acknowledges the WRITE before it (5.9.6).
    peer.hear(read_answer(peer, Op::read_response_only, 1, 8));
    CHECK(peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_READ ok len=8\n");
}

TEST_CASE("5.9.7: an old READ response is dropped, the new one counts") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer sink = peer.nic.buffer(2048);
    peer.post(read(1, sink.all(), {0x1000, protocol::RKey(7)}));
    const RocePacket first = read_answer(peer, Op::read_response_first, 0, 1024);
    RocePacket late = first;
    late.payload = pattern(1024, 50);
    peer.hear(first);
    peer.hear(late);
    peer.hear(read_answer(peer, Op::read_response_last, 1, 1024));
    CHECK(peer.nic.sent() == "wr=1 RDMA_READ ok len=2048\n");
    CHECK(same_bytes(sink.bytes.first(1024), first.payload));
}

TEST_CASE("5.4: credits: a peer that gives none does not stop a WRITE") {
    Writes story(2, {{.dma = ANY_DMA_MODE()}});
    story.peer.hear(story.peer.ack(+0, 1, 0x00));
    story.peer.hear(story.peer.ack(+1, 2, 0x00));
    CHECK(story.peer.nic.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
    story.peer.post(write(3, story.local.slice(0, 8), {0x1000, protocol::RKey(7)}));
    CHECK(story.peer.says() == "WRITE_ONLY psn=+2\n");
}

TEST_CASE("5.4: reserved syndromes and NAK codes complete nothing") {
    const auto syndrome = static_cast<std::uint8_t>(GENERATE(0x40, 0x5f, 0x65, 0x7f, 0x80, 0xa0, 0xe0, 0xff));
    CAPTURE(int{syndrome});
    Writes story(2);
    story.peer.hear(story.peer.ack(0, 1, syndrome));
    for (const auto& completion : story.peer.nic.take_sent())
        CHECK(completion.status != engine::WcStatus::success);
}

TEST_CASE("5.7: responses need RTS, a QP in RTR drops them") {
    Script peer({{}, engine::QpState::rtr});
    peer.hear(peer.ack(0, 1));
    CHECK(peer.nic.take_drops().size() == 1);
}

}  // namespace rocem::test
