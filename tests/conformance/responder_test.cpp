// The responder against a peer that is no engine: rocev2.md 5.8, rule by rule.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

void post_receives(Script& script, const Buffer& buffer, std::uint64_t count) {
    for (std::uint64_t id = 1; id <= count; ++id)
        script.post(receive(id, buffer.all()));
}

}  // namespace

TEST_CASE("5.8.1: ahead of the expected PSN: one NAK, silence, nothing written, until it comes") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(64);
    post_receives(peer, target, 4);
    peer.hear(peer.request(Op::send_only, +2, 8));
    CHECK(peer.says() == "NAK_PSN_SEQUENCE psn=+0 msn=0\n");
    peer.hear(peer.request(Op::send_only, +3, 8));
    peer.hear(peer.request(Op::send_only, +1, 8));
    CHECK(peer.says() == "");
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
    peer.hear(peer.request(Op::send_only, +0, 8));
    CHECK(peer.says() == "ACK psn=+0 msn=1\n");
    // The gap was filled: the next one draws a NAK again.
    peer.hear(peer.request(Op::send_only, +2, 8));
    CHECK(peer.says() == "NAK_PSN_SEQUENCE psn=+1 msn=1\n");
    CHECK(peer.nic.counters().out_of_sequence == 4);
    CHECK(peer.nic.counters().seq_naks_sent == 2);
}

TEST_CASE("5.8.1: the window of PSNs is half the circle") {
    struct Row {
        std::int32_t psn;
        const char* answer;
    };
    const Row rows[] = {{+0x7fffff, "NAK_PSN_SEQUENCE psn=+1 msn=1\n"},
                        {-0x7ffffe, "ACK psn=+0 msn=1\n"},
                        {-1, "ACK psn=+0 msn=1\n"}};
    const std::uint32_t first = GENERATE(0u, 0x7fffffu, 0xffffffu, 0x123456u);
    for (const Row& row : rows) {
        CAPTURE(first, row.psn);
        Script peer({{.first_psn_b = first}});
        const Buffer target = peer.nic.buffer(64);
        peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
        CHECK(peer.says() == "ACK psn=+0 msn=1\n");
        peer.hear(peer.request(Op::write_only, row.psn, 8, target, 8));
        CHECK(peer.says() == row.answer);
    }
}

TEST_CASE(
    "5.8.2: a duplicate SEND or WRITE is acknowledged whether it asks or not, and not executed (C9-105)") {
    const bool asks = GENERATE(true, false);
    const Op opcode = GENERATE(Op::send_only, Op::write_only, Op::send_only_imm);
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(64);
    post_receives(peer, target, 4);
    peer.hear(peer.request(opcode, 0, 8, target, 8));
    peer.hear(peer.request(opcode, 1, 8, target, 8));
    peer.says();
    const std::size_t received = peer.nic.take_received().size();
    RocePacket again = peer.request(opcode, 0, 8, target, 8);
    again.payload = pattern(8, 99);
    again.ack_request = asks;
    const std::vector<std::byte> before(target.bytes.begin(), target.bytes.end());
    peer.hear(again);
    CHECK(peer.says() == "ACK psn=+1 msn=2\n");
    CHECK(same_bytes(target.bytes, before));
    CHECK(peer.nic.take_received().empty());
    CHECK(received == (opcode == Op::write_only ? 0 : 2));
    CHECK(peer.nic.counters().duplicate_request == 1);
}

TEST_CASE("5.8.2: a duplicate READ reads memory again, also a part of it") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer source = peer.nic.filled(4096);
    peer.hear(peer.request(Op::read_request, 0, 0, source, 4096));
    CHECK(peer.says() == lines(R"(
        READ_RESPONSE_FIRST psn=+0 msn=1
        READ_RESPONSE_MIDDLE psn=+1
        READ_RESPONSE_MIDDLE psn=+2
        READ_RESPONSE_LAST psn=+3 msn=1
    )"));
    source.bytes[2048] ^= std::byte{0xff};
    peer.hear(peer.request(Op::read_request, +2, 0, source, 2048, 2048));
    const auto answers = peer.packets();
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].payload[0] == source.bytes[2048]);
    CHECK(psn_distance(answers[1].psn, answers[0].psn) == 1);
    CHECK(answers[1].payload.size() == 1024);
    // Only the last packet of it.
    peer.hear(peer.request(Op::read_request, +3, 0, source, 1024, 3072));
    CHECK(peer.packets().size() == 1);
    CHECK(peer.nic.counters().rx_read_requests == 1);
    CHECK(peer.nic.counters().duplicate_request == 2);
    CHECK(peer.nic.state() == engine::QpState::rts);
}

TEST_CASE("5.8.2: a duplicate READ that is no part of a READ we answered is dropped without a NAK") {
    const int which = GENERATE(0, 1, 2, 3, 4);
    CAPTURE(which);
    Script peer;
    const Buffer source = peer.nic.filled(8192);
    const Buffer other = peer.nic.filled(8192, 2);
    peer.hear(peer.request(Op::write_only, 0, 8, other, 8));
    peer.hear(peer.request(Op::read_request, 1, 0, source, 4096));
    peer.says();
    RocePacket again = peer.request(Op::read_request, 1, 0, source, 4096);
    switch (which) {
        case 0:
            again.va += 1;
            break;
        case 1:
            again.dma_length = 4097;
            break;
        case 2:
            again = peer.request(Op::read_request, 1, 0, other, 4096);
            break;
        case 3:
            again.va = 0xfffffffffffffc00;
            break;  // an end that wraps
        default:
            again = peer.request(Op::read_request, 0, 0, source, 8);
            break;  // that PSN was a WRITE
    }
    peer.hear(again);
    CHECK(peer.says() == "");
    CHECK(peer.nic.state() == engine::QpState::rts);
    peer.hear(peer.request(Op::write_only, 5, 8, other, 8));
    CHECK(peer.says() == "ACK psn=+5 msn=3\n");
}

TEST_CASE("5.8.2: a duplicate atomic is answered with what it found the first time") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(16);
    target.bytes[0] = std::byte{41};
    RocePacket add = peer.request(Op::fetch_add, 0, 0, target, 0);
    add.swap_or_add = 1;
    peer.hear(add);
    peer.hear(peer.request(Op::write_only, 1, 8, target, 8, 8));
    peer.says();
    peer.hear(add);
    CHECK(peer.says() == "ATOMIC_ACK psn=+0 msn=2 original=41\n");
    CHECK(target.bytes[0] == std::byte{42});
    // An atomic where a WRITE was: dropped.
    add.psn = (add.psn + 1) & psn_mask;
    peer.hear(add);
    CHECK(peer.says() == "");
    CHECK(target.bytes[0] == std::byte{42});
    CHECK(peer.nic.state() == engine::QpState::rts);
}

TEST_CASE("5.8.2: a duplicate that is wrong in every other way is never NAKed") {
    const int which = GENERATE(0, 1, 2, 3);
    CAPTURE(which);
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    peer.hear(peer.request(Op::write_only, 1, 8, target, 8));
    peer.says();
    RocePacket again = peer.request(Op::write_only, 0, 8, target, 8);
    switch (which) {
        case 0:
            again.r_key ^= 0x100;
            break;
        case 1:
            again.dma_length = 7;
            break;
        case 2:
            again = peer.request(Op::send_middle, 0, 1024);
            break;
        default:
            again = peer.request(Op::write_last, 0, 4);
            break;
    }
    peer.hear(again);
    CHECK(peer.says().find("NAK") == std::string::npos);
    CHECK(peer.nic.state() == engine::QpState::rts);
}

TEST_CASE("5.8.4: no receive: RNR NAK for the FIRST or ONLY of a SEND, for the last of a WRITE_WITH_IMM") {
    const auto [opcode, refused] = GENERATE(table<Op, bool>({{Op::send_only, true},
                                                             {Op::send_only_imm, true},
                                                             {Op::send_first, true},
                                                             {Op::write_only_imm, true},
                                                             {Op::write_only, false},
                                                             {Op::write_first, false},
                                                             {Op::read_request, false},
                                                             {Op::fetch_add, false}}));
    CAPTURE(name_of(opcode));
    Script peer({{.dma = ANY_DMA_MODE(), .min_rnr_timer = 9}});
    const Buffer target = peer.nic.buffer(4096);
    const bool whole = opcode == Op::send_first || opcode == Op::write_first;
    const bool bare = opcode == Op::read_request || opcode == Op::fetch_add;
    peer.hear(peer.request(opcode, 0, whole ? 1024 : bare ? 0 : 8, target, whole ? 2048 : 8));
    const std::string said = peer.says();
    CHECK((said == "RNR_NAK psn=+0 msn=0 timer=9\n") == refused);
    CHECK(peer.nic.counters().out_of_buffer == (refused ? 1 : 0));
    CHECK(peer.nic.state() == engine::QpState::rts);
}

TEST_CASE("5.8.4: a receive is taken at FIRST: one is enough for a message of many packets") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(4096);
    post_receives(peer, target, 1);
    peer.hear(peer.request(Op::send_first, 0, 1024));
    peer.hear(peer.request(Op::send_middle, 1, 1024));
    peer.hear(peer.request(Op::send_last, 2, 100));
    CHECK(peer.says() == "ACK psn=+2 msn=1\n");
    CHECK(peer.nic.received() == "wr=1 RECV ok len=2148\n");
}

namespace {

struct Wrong {
    const char* name;
    std::vector<RocePacket> before;
    RocePacket packet;
};

}  // namespace

TEST_CASE("5.3: lengths and pads that do not fit the opcode and the path MTU are 0x61") {
    const std::size_t row_count = 12;
    for (std::size_t i = 0; i < row_count; ++i) {
        Script peer;
        const Buffer target = peer.nic.buffer(8192);
        post_receives(peer, target, 2);
        const auto request = [&](Op opcode, std::int32_t psn, std::size_t payload, std::uint32_t length = 0) {
            return peer.request(opcode, psn, payload, target, length);
        };
        const RocePacket first = request(Op::send_first, 0, 1024);
        const RocePacket write_first = request(Op::write_first, 0, 1024, 2048);
        const Wrong rows[row_count] = {
            {"SEND FIRST below the MTU", {}, request(Op::send_first, 0, 1020)},
            {"SEND FIRST above the MTU", {}, request(Op::send_first, 0, 1028)},
            {"SEND MIDDLE below the MTU", {first}, request(Op::send_middle, 1, 1000)},
            {"SEND LAST of nothing", {first}, request(Op::send_last, 1, 0)},
            {"SEND LAST above the MTU", {first}, request(Op::send_last, 1, 1028)},
            {"SEND ONLY above the MTU", {}, request(Op::send_only, 0, 1028)},
            {"WRITE FIRST below the MTU", {}, request(Op::write_first, 0, 1000, 2048)},
            {"WRITE ONLY shorter than its RETH", {}, request(Op::write_only, 0, 8, 12)},
            {"WRITE ONLY longer than its RETH", {}, request(Op::write_only, 0, 12, 8)},
            {"WRITE LAST that leaves the message short", {write_first}, request(Op::write_last, 1, 1020)},
            {"WRITE MIDDLE beyond the RETH",
             {request(Op::write_first, 0, 1024, 1500)},
             request(Op::write_middle, 1, 1024)},
            {"a READ of more than 2^31", {}, request(Op::read_request, 0, 0, 0x80000001)},
        };
        const Wrong& row = rows[i];
        CAPTURE(row.name);
        for (const RocePacket& packet : row.before)
            peer.hear(packet);
        peer.says();
        peer.hear(row.packet);
        CHECK(peer.says() == "NAK_INVALID_REQUEST psn=+" + std::to_string(row.before.size()) + " msn=0\n");
        CHECK(peer.nic.state() == engine::QpState::error);
        // 5.8.15: and no further replies.
        peer.hear(row.packet);
        CHECK(peer.says() == "");
    }
}

TEST_CASE("5.8.7: a misaligned atomic is 0x61") {
    const std::uint64_t offset = GENERATE(1u, 4u, 7u);
    const Op opcode = GENERATE(Op::fetch_add, Op::compare_swap);
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    peer.hear(peer.request(opcode, 0, 0, target, 0, offset));
    CHECK(peer.says() == "NAK_INVALID_REQUEST psn=+0 msn=0\n");
    CHECK(peer.nic.state() == engine::QpState::error);
}

TEST_CASE("5.8.6: a WRITE is checked for its whole length at FIRST") {
    Script peer;
    const Buffer target = peer.nic.buffer(2000);
    peer.hear(peer.request(Op::write_first, 0, 1024, target, 2001));
    CHECK(peer.says() == "NAK_REMOTE_ACCESS psn=+0 msn=0\n");
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(2000)));
    CHECK(peer.nic.events().find("QP_ACCESS_ERR") != std::string::npos);
}

TEST_CASE("5.8.11: an ACK at AckReq and at the end of a message, none without") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(8192);
    RocePacket first = peer.request(Op::write_first, 0, 1024, target, 4096);
    peer.hear(first);
    CHECK(peer.says() == "");
    RocePacket middle = peer.request(Op::write_middle, 1, 1024);
    middle.ack_request = true;
    peer.hear(middle);
    CHECK(peer.says() == "ACK psn=+1 msn=0\n");
    peer.hear(peer.request(Op::write_middle, 2, 1024));
    CHECK(peer.says() == "");
    peer.hear(peer.request(Op::write_last, 3, 1024));
    CHECK(peer.says() == "ACK psn=+3 msn=1\n");
}

TEST_CASE("5.3: the MSN counts messages, wraps at 2^24 in theory, and starts again after RESET") {
    Script peer({{.dma = ANY_DMA_MODE()}});
    const Buffer target = peer.nic.buffer(64);
    post_receives(peer, target, 1);
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    peer.hear(peer.request(Op::send_only, 1, 8));
    peer.hear(peer.request(Op::read_request, 2, 0, target, 8));
    peer.hear(peer.request(Op::fetch_add, 3, 0, target, 0));
    peer.hear(peer.request(Op::read_request, 4, 0, target, 0));
    const auto answers = peer.packets();
    REQUIRE(answers.size() == 5);
    for (std::uint32_t i = 0; i < 5; ++i)
        CHECK(answers[i].msn == i + 1);
    REQUIRE(peer.modify(engine::QpState::reset) == engine::Error::none);
    for (const auto state : {engine::QpState::init, engine::QpState::rtr}) {
        REQUIRE(peer.modify(state, required_mask(state)) == engine::Error::none);
    }
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    CHECK(peer.says() == "ACK psn=+0 msn=1\n");
}

TEST_CASE("5.4: positive answers carry a credit syndrome, with nothing promised that is not there") {
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    peer.hear(peer.request(Op::read_request, 1, 0, target, 8));
    peer.hear(peer.request(Op::fetch_add, 2, 0, target, 0));
    for (const RocePacket& answer : peer.packets()) {
        CAPTURE(name_of(answer.opcode));
        CHECK((answer.syndrome & 0xe0) == 0);
        CHECK(((answer.syndrome == syndrome_ack) || (answer.syndrome == 0)));  // no receive is posted
        CHECK(answer.dest_qpn == Script::peer_qpn);
    }
}

TEST_CASE("5.8.15: after ERR requests are met with silence") {
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    REQUIRE(peer.modify(engine::QpState::error) == engine::Error::none);
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    peer.hear(peer.request(Op::write_only, 5, 8, target, 8));
    CHECK(peer.says() == "");
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
}

TEST_CASE("5.7: requests need RTR, before it they are dropped") {
    const auto state = GENERATE(engine::QpState::reset, engine::QpState::init);
    Script peer({{}, state});
    const Buffer target = peer.nic.buffer(64);
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    CHECK(peer.says() == "");
    CHECK(peer.nic.take_drops().size() == 1);
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
}

}  // namespace rocem::test
