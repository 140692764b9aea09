// What crosses a wire that loses nothing: packets, bytes and completions of every verb (rocev2.md 5.2, 5.3;
// the rows sizes and zero-length of the field's cases).
#include <catch2/catch.hpp>
#include <optional>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

struct Verb {
    const char* name;
    Op first, middle, last, only;
    bool write, immediate;
};

constexpr Verb verbs[] = {
    {"SEND", Op::send_first, Op::send_middle, Op::send_last, Op::send_only, false, false},
    {"SEND_IMM", Op::send_first, Op::send_middle, Op::send_last_imm, Op::send_only_imm, false, true},
    {"WRITE", Op::write_first, Op::write_middle, Op::write_last, Op::write_only, true, false},
    {"WRITE_IMM", Op::write_first, Op::write_middle, Op::write_last_imm, Op::write_only_imm, true, true},
};

constexpr std::uint32_t immediate = 0xcafe0001;

std::vector<std::uint32_t> sizes_for(std::uint32_t mtu) {
    return {0, 1, 2, 3, 5, mtu - 1, mtu, mtu + 1, 2 * mtu + 3};
}

std::uint32_t packets_for(std::uint32_t size, std::uint32_t mtu) {
    return size == 0 ? 1 : (size + mtu - 1) / mtu;
}

SendRequest make(const Verb& verb, std::uint64_t wr_id, const SgeList& local, RemoteAddress remote) {
    if (verb.write && verb.immediate) return write_with_immediate(wr_id, local, remote, immediate);
    if (verb.write) return write(wr_id, local, remote);
    if (verb.immediate) return send_with_immediate(wr_id, local, immediate);
    return send(wr_id, local);
}

void check_request_packets(const Story& story, const Verb& verb, std::uint32_t size, std::uint32_t mtu) {
    const auto packets = story.sightings(any_request());
    const std::uint32_t count = packets_for(size, mtu);
    REQUIRE(packets.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) {
        CAPTURE(i);
        const RocePacket& packet = packets[i].packet;
        const bool first = i == 0;
        const bool last = i + 1 == count;
        const Op opcode = first && last ? verb.only : first ? verb.first : last ? verb.last : verb.middle;
        const std::uint32_t length = last ? size - i * mtu : mtu;
        CHECK(name_of(packet.opcode) == name_of(opcode));
        CHECK(packets[i].psn == static_cast<std::int32_t>(i));
        CHECK(packet.payload.size() == length);
        CHECK(packet.pad_count == (last ? (-size & 3u) : 0u));
        CHECK(packets[i].outer.pad_is_zero);
        CHECK(packet.ack_request == last);
        CHECK(packet.mig_req);
        CHECK(packet.version == 0);
        CHECK(packet.p_key == 0xffff);
        CHECK(packet.dest_qpn == number_of(story.b.qpn()));
        if (last && verb.immediate) CHECK(packet.immediate == immediate);
        if (first && verb.write) CHECK(packet.dma_length == size);
    }
}

std::string expected_receive(const Verb& verb, std::uint32_t size) {
    if (verb.write && !verb.immediate) return "";
    std::string line = verb.write ? "wr=7 RECV_RDMA_WITH_IMM ok len=" : "wr=7 RECV ok len=";
    line += std::to_string(size);
    return line + (verb.immediate ? " imm=0xcafe0001\n" : "\n");
}

}  // namespace

TEST_CASE("sizes: SEND and WRITE of every size arrive whole in the packets that the MTU asks for") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t mtu = GENERATE(256u, 1024u, 4096u);
    for (const Verb& verb : verbs) {
        for (const std::uint32_t size : sizes_for(mtu)) {
            CAPTURE(verb.name, size);
            Story story({.dma = dma, .mtu = mtu, .first_psn = 0xfffffe});
            const Buffer from = story.a.filled(size + 1);
            const Buffer to = story.b.buffer(size + 1);

            story.b.post(receive(7, verb.write ? SgeList{} : to.slice(0, size)));
            story.a.post(make(verb, 1, from.slice(0, size), to.at()));
            story.run();

            check_request_packets(story, verb, size, mtu);
            CHECK(story.log_from(Side::b) ==
                  "B>A ACK psn=+" + std::to_string(packets_for(size, mtu) - 1) + " msn=1\n");
            CHECK(story.a.sent() == std::string(verb.write ? "wr=1 RDMA_WRITE ok\n" : "wr=1 SEND ok\n"));
            CHECK(story.b.received() == expected_receive(verb, size));
            CHECK(same_bytes(to.bytes.first(size), from.bytes.first(size)));
            CHECK(to.bytes[size] == std::byte{0});
        }
    }
}

TEST_CASE("sizes: READ of every size is answered in the packets that the MTU asks for") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t mtu = GENERATE(256u, 1024u, 4096u);
    for (const std::uint32_t size : sizes_for(mtu)) {
        CAPTURE(size);
        Story story({.dma = dma, .mtu = mtu, .first_psn = 0xfffffe});
        const Buffer from = story.b.filled(size + 1);
        const Buffer to = story.a.buffer(size + 1);

        story.a.post(read(1, to.slice(0, size), from.at()));
        story.run();

        CHECK(story.log_from(Side::a) == "A>B READ_REQUEST psn=+0 len=" + std::to_string(size) + "\n");
        const auto answers = story.sightings({Side::b, FrameKind::any, {}});
        const std::uint32_t count = packets_for(size, mtu);
        REQUIRE(answers.size() == count);
        for (std::uint32_t i = 0; i < count; ++i) {
            CAPTURE(i);
            const RocePacket& packet = answers[i].packet;
            const bool first = i == 0;
            const bool last = i + 1 == count;
            const Op opcode = first && last ? Op::read_response_only
                              : first       ? Op::read_response_first
                              : last        ? Op::read_response_last
                                            : Op::read_response_middle;
            CHECK(name_of(packet.opcode) == name_of(opcode));
            CHECK(answers[i].psn == static_cast<std::int32_t>(i));
            CHECK(packet.payload.size() == (last ? size - i * mtu : mtu));
            CHECK(packet.pad_count == (last ? (-size & 3u) : 0u));
            CHECK(answers[i].outer.pad_is_zero);
            if (first || last) CHECK(packet.msn == 1);
            if (first || last) CHECK((packet.syndrome & 0xe0) == 0);
        }
        CHECK(story.a.sent() == "wr=1 RDMA_READ ok len=" + std::to_string(size) + "\n");
        CHECK(same_bytes(to.bytes.first(size), from.bytes.first(size)));
        CHECK(to.bytes[size] == std::byte{0});
        CHECK(story.b.counters().rx_read_requests == 1);
    }
}

TEST_CASE("sizes: a SEND of 5 bytes has 3 bytes of pad and UDP length 32") {
    Story story({.dma = ANY_DMA_MODE()});
    const Buffer from = story.a.filled(5);
    const Buffer to = story.b.buffer(5);
    story.b.post(receive(1, to.all()));
    story.a.post(send(1, from.all()));
    story.run();
    const auto packets = story.sightings(any_request());
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].packet.pad_count == 3);
    CHECK(packets[0].outer.udp_length == 32);
    CHECK(packets[0].outer.ttl == 64);
}

TEST_CASE("zero-length: WRITE and READ of nothing do not look at the key, and take one PSN each (C9-88)") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool with_sge = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer any = story.a.buffer(1);
    const SgeList nothing = with_sge ? any.slice(0, 0) : SgeList{};
    const RemoteAddress nowhere{0xdead0000, protocol::RKey(0xdeadbeef)};

    story.b.post(receive(7, {}));
    story.a.post(write(1, nothing, nowhere));
    story.a.post(read(2, nothing, nowhere));
    story.a.post(write_with_immediate(3, nothing, nowhere, 9));
    story.run();

    CHECK(story.requests() == lines(R"(
        A>B WRITE_ONLY psn=+0
        A>B READ_REQUEST psn=+1 len=0
        A>B WRITE_ONLY_IMM psn=+2
    )"));
    const auto requests = story.sightings(any_request());
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].outer.udp_length == 40);
    CHECK(requests[0].packet.payload.empty());
    const auto responses = story.sightings({Side::b, FrameKind::read_response, 1});
    REQUIRE(responses.size() == 1);
    CHECK(name_of(responses[0].packet.opcode) == "READ_RESPONSE_ONLY");
    CHECK(responses[0].outer.udp_length == 28);
    CHECK(story.a.sent() == lines(R"(
        wr=1 RDMA_WRITE ok
        wr=2 RDMA_READ ok len=0
        wr=3 RDMA_WRITE ok
    )"));
    CHECK(story.b.received() == "wr=7 RECV_RDMA_WITH_IMM ok len=0 imm=0x9\n");
}

TEST_CASE("scatter/gather: pieces of every length, also 0, are joined and spread") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer from = story.a.filled(2000);
    const Buffer to = story.b.buffer(2000);
    const std::uint32_t lengths[] = {1, 255, 0, 256, 257, 3, 600};  // 1372
    SgeList gather;
    std::vector<std::byte> joined;
    std::uint32_t at = 7;
    for (const std::uint32_t length : lengths) {
        gather.push_back(from.slice(at, length)[0]);
        const auto piece = from.bytes.subspan(at, length);
        joined.insert(joined.end(), piece.begin(), piece.end());
        at += length + 2;
    }
    const SgeList scatter = {to.slice(0, 300)[0], to.slice(400, 1)[0], to.slice(500, 0)[0],
                             to.slice(600, 1200)[0]};

    const auto check_spread = [&] {
        const std::span<const std::byte> all(joined);
        CHECK(same_bytes(to.bytes.first(300), all.first(300)));
        CHECK(to.bytes[300] == std::byte{0});
        CHECK(to.bytes[400] == all[300]);
        CHECK(same_bytes(to.bytes.subspan(600, 1071), all.subspan(301)));
        CHECK(to.bytes[1671] == std::byte{0});
    };

    SECTION("SEND") {
        story.b.post(receive(7, scatter));
        story.a.post(send(1, gather));
        story.run();
        CHECK(story.b.received() == "wr=7 RECV ok len=1372\n");
        check_spread();
    }
    SECTION("READ") {
        const Buffer source = story.a.buffer(1372);
        std::copy(joined.begin(), joined.end(), source.bytes.begin());
        SgeList exact = scatter;
        exact.back().length = 1071;
        story.b.post(read(1, exact, source.at()));
        story.run();
        CHECK(story.b.sent() == "wr=1 RDMA_READ ok len=1372\n");
        check_spread();
    }
    SECTION("WRITE") {
        story.a.post(write(1, gather, to.at(3)));
        story.run();
        CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
        CHECK(same_bytes(to.bytes.subspan(3, 1372), joined));
        CHECK(to.bytes[2] == std::byte{0});
        CHECK(to.bytes[1375] == std::byte{0});
    }
}

TEST_CASE("inline data needs no memory region, and is taken when it is posted") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::size_t size = GENERATE(0u, 1u, 255u, 256u, 257u, 512u);
    Story story({.dma = dma, .mtu = 256});
    const Buffer to = story.b.buffer(512);
    const auto bytes = pattern(size, 3);
    story.b.post(receive(7, to.all()));
    SendRequest request = send_inline(1, bytes);
    REQUIRE(story.a.post_now(story.now(), request) == engine::Error::none);
    std::fill(request.inline_bytes.begin(), request.inline_bytes.end(), std::byte{0});
    story.run();
    CHECK(story.a.sent() == "wr=1 SEND ok\n");
    CHECK(story.b.received() == "wr=7 RECV ok len=" + std::to_string(size) + "\n");
    CHECK(same_bytes(to.bytes.first(size), bytes));
}

TEST_CASE("5.8.12: only a message with SE wakes an arm for solicited completions") {
    Story story({.dma = ANY_DMA_MODE()});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    for (std::uint64_t id = 1; id <= 3; ++id)
        story.b.post(receive(id, to.all()));
    story.a.post(send(1, from.all()));
    story.a.post(send(2, from.all()).solicited());
    story.a.post(write_with_immediate(3, from.all(), to.at(), 5).solicited());
    story.run();
    CHECK(story.b.received() == lines(R"(
        wr=1 RECV ok len=8
        wr=2 RECV ok len=8 solicited
        wr=3 RECV_RDMA_WITH_IMM ok len=8 imm=0x5 solicited
    )"));
}

TEST_CASE("5.9.11: only signaled requests complete, unless the QP signals all") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool all = GENERATE(false, true);
    Story story({.dma = dma, .sq_sig_all = all});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()).unsignaled());
    story.a.post(write(2, from.all(), to.at()));
    story.a.post(write(3, from.all(), to.at()).unsignaled());
    story.run();
    CHECK(story.a.sent() ==
          (all ? "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\nwr=3 RDMA_WRITE ok\n" : "wr=2 RDMA_WRITE ok\n"));
}

TEST_CASE("both directions at once: each side's requests have their own PSNs and MSNs") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .mtu = 256});
    const Buffer at_a = story.a.filled(4000, 1);
    const Buffer at_b = story.b.filled(4000, 2);
    const Buffer to_a = story.a.buffer(4000);
    const Buffer to_b = story.b.buffer(4000);
    story.a.post(write(1, at_a.all(), to_b.at()));
    story.b.post(write(1, at_b.all(), to_a.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(story.b.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(to_b.bytes, at_a.bytes));
    CHECK(same_bytes(to_a.bytes, at_b.bytes));
    CHECK(story.count({Side::a, FrameKind::request, {}}) == 16);
    CHECK(story.count({Side::b, FrameKind::request, {}}) == 16);
}

}  // namespace rocem::test
