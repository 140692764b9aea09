// Every verb, every frame that can be lost, every MTU, with and without a wrap of the PSN: the data is whole,
// each request completes once, and repair costs no more than going back once.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

enum class Kind { send, send_imm, write, write_imm, read, compare_swap, fetch_add };

struct Row {
    Kind kind;
    const char* name;
    std::uint32_t packets;  // 1: an ONLY
};

constexpr Row rows[] = {
    {Kind::send, "SEND", 1},           {Kind::send, "SEND", 3},           {Kind::send_imm, "SEND_IMM", 1},
    {Kind::send_imm, "SEND_IMM", 3},   {Kind::write, "WRITE", 1},         {Kind::write, "WRITE", 3},
    {Kind::write_imm, "WRITE_IMM", 1}, {Kind::write_imm, "WRITE_IMM", 3}, {Kind::read, "READ", 1},
    {Kind::read, "READ", 4},           {Kind::compare_swap, "CAS", 1},    {Kind::fetch_add, "FAA", 1},
};

bool is_atomic(Kind kind) {
    return kind == Kind::compare_swap || kind == Kind::fetch_add;
}

// What is lost, in words, and the frames it means.
struct Loss {
    std::string name;
    std::vector<FrameSelector> frames;
};

std::vector<Loss> losses_of(const Row& row) {
    std::vector<Loss> losses;
    const auto last = static_cast<std::int32_t>(row.packets) - 1;
    if (row.kind == Kind::read) {
        losses.push_back({"the READ request", {request(0)}});
        losses.push_back({"the READ request, and it again", {request(0).times(2)}});
        for (std::int32_t k = 0; k <= last; ++k) {
            losses.push_back({"READ response " + std::to_string(k), {read_response(k)}});
        }
        losses.push_back(
            {"READ response " + std::to_string(last) + " twice", {read_response(last).times(2)}});
        losses.push_back(
            {"every READ response once", {{Side::b, FrameKind::read_response, {}, 1, row.packets}}});
        return losses;
    }
    for (std::int32_t k = 0; k <= last; ++k) {
        losses.push_back({"request " + std::to_string(k), {request(k)}});
        losses.push_back({"request " + std::to_string(k) + " and its retransmission", {request(k).times(2)}});
    }
    if (is_atomic(row.kind)) {
        losses.push_back({"the atomic answer", {atomic_ack()}});
        losses.push_back({"the atomic answer three times", {atomic_ack().times(3)}});
    } else {
        losses.push_back({"the ACK", {ack()}});
        losses.push_back({"the ACK twice", {ack().times(2)}});
        if (last > 0) losses.push_back({"request 1 and the NAK", {request(1), nak()}});
    }
    return losses;
}

struct Told {
    SendRequest request;
    std::string completion;
};

Told tell(const Row& row, const SgeList& local, RemoteAddress remote, std::uint32_t size) {
    const std::string length = " ok len=" + std::to_string(size) + "\n";
    switch (row.kind) {
        case Kind::send:
            return {send(1, local), "wr=1 SEND ok\n"};
        case Kind::send_imm:
            return {send_with_immediate(1, local, 3), "wr=1 SEND ok\n"};
        case Kind::write:
            return {write(1, local, remote), "wr=1 RDMA_WRITE ok\n"};
        case Kind::write_imm:
            return {write_with_immediate(1, local, remote, 3), "wr=1 RDMA_WRITE ok\n"};
        case Kind::read:
            return {read(1, local, remote), "wr=1 RDMA_READ" + length};
        case Kind::compare_swap:
            return {compare_swap(1, local, remote, 41, 42), "wr=1 COMP_SWAP" + length};
        case Kind::fetch_add:
            return {fetch_add(1, local, remote, 1), "wr=1 FETCH_ADD" + length};
    }
    return {};
}

void tell_story(const StoryOptions& options, const Row& row, const Loss& loss) {
    Story story(options);
    const std::uint32_t size = is_atomic(row.kind) ? 8
                               : row.packets == 1  ? 13
                                                   : (row.packets - 1) * options.mtu + 13;
    const Buffer source = (row.kind == Kind::read ? story.b : story.a).filled(size);
    const Buffer sink = (row.kind == Kind::read ? story.a : story.b).buffer(size);
    const Buffer result = story.a.buffer(8);
    if (is_atomic(row.kind)) sink.bytes[0] = std::byte{41};
    story.b.post(receive(7, sink.all()));
    story.b.post(receive(8, sink.all()));
    for (const FrameSelector& frames : loss.frames)
        story.lose(frames);

    const SgeList local = is_atomic(row.kind)      ? result.all()
                          : row.kind == Kind::read ? sink.all()
                                                   : source.all();
    const RemoteAddress remote = row.kind == Kind::read ? source.at() : sink.at();
    Told told = tell(row, local, remote, size);
    story.a.post(std::move(told.request));
    story.run();

    CHECK(story.a.sent() == told.completion);
    if (is_atomic(row.kind)) {
        CHECK(sink.bytes[0] == std::byte{42});
        CHECK(result.bytes[0] == std::byte{41});
    } else {
        CHECK(same_bytes(sink.bytes, source.bytes));
    }
    const bool takes_receive =
        row.kind == Kind::send || row.kind == Kind::send_imm || row.kind == Kind::write_imm;
    CHECK(story.b.take_received().size() == (takes_receive ? 1 : 0));
    CHECK(story.b.counters().rx_atomic_requests == (is_atomic(row.kind) ? 1 : 0));
    // Every frame that was lost is repaired by at most one round of at most a whole message.
    std::size_t lost = 0;
    for (const Sighting& sighting : story.wire.log())
        lost += sighting.fate == Fate::lost ? 1 : 0;
    const std::size_t once = row.kind == Kind::read ? 1 : row.packets;
    CHECK(lost > 0);
    CHECK(story.count(any_request()) <= once * (1 + lost));
    CHECK(story.a.state() == engine::QpState::rts);
    CHECK(story.b.state() == engine::QpState::rts);
}

}  // namespace

TEST_CASE("loss matrix") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t mtu = GENERATE(256u, 1024u, 4096u);
    const std::uint32_t first_psn = GENERATE(1000u, 0xffffffu, 0x7fffffu);
    for (const Row& row : rows) {
        for (const Loss& loss : losses_of(row)) {
            CAPTURE(row.name, row.packets, loss.name);
            tell_story({.dma = dma, .mtu = mtu, .first_psn = first_psn}, row, loss);
        }
    }
}

TEST_CASE("loss matrix: the same frames doubled or overtaken") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t first_psn = GENERATE(1000u, 0xffffffu);
    const Fate fate = GENERATE(Fate::duplicated, Fate::delayed);
    for (const Row& row : rows) {
        const std::uint32_t answers = row.kind == Kind::read ? row.packets : 1;
        const std::uint32_t requests = row.kind == Kind::read ? 1 : row.packets;
        for (std::uint32_t k = 0; k < requests + answers; ++k) {
            CAPTURE(row.name, row.packets, k);
            Story story({.dma = dma, .mtu = 256, .first_psn = first_psn});
            FrameSelector frames = any_request().iteration(k + 1);
            if (k >= requests) frames = FrameSelector{Side::b, FrameKind::any, {}, k - requests + 1};
            story.wire.add_fault({frames, fate, 1});

            const std::uint32_t size = is_atomic(row.kind) ? 8 : (row.packets - 1) * 256 + 13;
            const Buffer source = (row.kind == Kind::read ? story.b : story.a).filled(size);
            const Buffer sink = (row.kind == Kind::read ? story.a : story.b).buffer(size);
            const Buffer result = story.a.buffer(8);
            story.b.post(receive(7, sink.all()));
            story.b.post(receive(8, sink.all()));
            const bool sinks_here = row.kind == Kind::read;
            Told told = tell(row,
                             is_atomic(row.kind) ? result.all()
                             : sinks_here        ? sink.all()
                                                 : source.all(),
                             sinks_here ? source.at() : sink.at(), size);
            story.a.post(std::move(told.request));
            story.run();
            CHECK(story.a.sent() == told.completion);
            CHECK(story.b.counters().rx_atomic_requests == (is_atomic(row.kind) ? 1 : 0));
            if (!is_atomic(row.kind)) CHECK(same_bytes(sink.bytes, source.bytes));
            CHECK(story.a.state() == engine::QpState::rts);
        }
    }
}

}  // namespace rocem::test
