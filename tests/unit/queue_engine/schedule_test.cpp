// Who sends next, and how much of the engine one QP may hold.
#include <catch2/catch.hpp>

#include "tests/support/script.hpp"
#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

const RemoteAddress nowhere{0x10000, protocol::RKey(0x77)};

// A NIC that is driven without the harness' turns.
struct Nic {
    Node node;
    std::vector<std::byte> buffer = std::vector<std::byte>(4096 + 256);

    explicit Nic(const StoryOptions& options, unsigned qps) : node(node_settings(options, Side::a)) {
        engine::QpInit init;
        init.pd = node.pd;
        init.send_cq = node.send_cq;
        init.recv_cq = node.recv_cq;
        init.cap = options.cap;
        engine::QpAttributes wanted = attributes_of(options, address_of(2), protocol::Qpn(0x123));
        for (unsigned i = 0; i < qps; ++i) {
            node.add_qp(init);
            for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
                wanted.state = state;
                REQUIRE(node.engine.modify_qp(Story::start, node.qp(i), wanted, required_mask(state)) ==
                        engine::Error::none);
            }
        }
    }
    bool transmit() { return node.engine.poll_transmit(Story::start, buffer).has_value(); }
    // How many frames it builds until it stops.
    unsigned transmit_all() {
        unsigned frames = 0;
        while (transmit())
            ++frames;
        return frames;
    }
    std::vector<engine::DmaOp> operations() {
        std::vector<engine::DmaOp> ops;
        for (engine::DmaOp op; node.engine.poll_dma(op);)
            ops.push_back(op);
        return ops;
    }
    void answer(const engine::DmaOp& op) {
        const engine::DmaAnswer answer{op.id, true, 0};
        node.engine.handle_dma(Story::start, {&answer, 1});
    }
    unsigned verdicts() {
        unsigned frames = 0;
        for (engine::FrameVerdict verdict; node.engine.poll_frame(Story::start, verdict);)
            ++frames;
        return frames;
    }
};

}  // namespace

TEST_CASE("schedule: a burst, then the next one's turn") {
    Nic nic({.mtu = 256}, 3);
    const Buffer from = nic.node.filled(256 * 64);
    for (unsigned qp = 0; qp < 3; ++qp)
        REQUIRE(nic.node.post_now(Story::start, write(qp, from.all(), nowhere), qp) == engine::Error::none);
    std::array<unsigned, 3> sent{};
    for (unsigned i = 0; i < 3 * 64; ++i) {
        REQUIRE(nic.transmit());
        for (const engine::DmaOp& op : nic.operations()) {
            for (unsigned qp = 0; qp < 3; ++qp)
                sent[qp] += op.qp == nic.node.qp(qp) ? 1 : 0;
            nic.answer(op);
        }
        nic.verdicts();
        const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
        REQUIRE(*most - *least <= 16);
    }
    CHECK_FALSE(nic.transmit());
    CHECK_FALSE(nic.node.engine.transmit_pending());
}

TEST_CASE("schedule: memory that never answers holds up its own QP, the others find frames and operations") {
    const bool frames_are_few = GENERATE(true, false);
    Nic nic({.mtu = 256,
             .window_packets = 1024,
             .tx_frames_max = frames_are_few ? 64u : 4096u,
             .dma_ops_max = frames_are_few ? 4096u : 64u},
            3);
    const Buffer from = nic.node.filled(256 * 1000);
    for (unsigned qp = 0; qp < 2; ++qp)
        REQUIRE(nic.node.post_now(Story::start, write(qp, from.all(), nowhere), qp) == engine::Error::none);
    const unsigned held = nic.transmit_all();
    CHECK(held < 64);
    const std::vector<engine::DmaOp> stuck = nic.operations();
    REQUIRE(stuck.size() == held);
    CHECK_FALSE(nic.node.engine.transmit_pending());  // it does not ask to be polled for nothing

    // A third one comes and works as if alone.
    REQUIRE(nic.node.post_now(Story::start, write(7, from.all(), nowhere), 2) == engine::Error::none);
    unsigned sent = 0;
    for (unsigned rounds = 0; sent < 1000; ++rounds) {
        REQUIRE(rounds < 1000);
        sent += nic.transmit_all();
        for (const engine::DmaOp& op : nic.operations()) {
            CHECK(op.qp == nic.node.qp(2));
            nic.answer(op);
        }
        nic.verdicts();
    }
    CHECK(sent == 1000);

    // Answered at last, the others go on by themselves.
    for (const engine::DmaOp& op : stuck)
        nic.answer(op);
    CHECK(nic.verdicts() == held);
    CHECK(nic.node.engine.transmit_pending());
    CHECK(nic.transmit_all() > 0);
}

TEST_CASE("schedule: received packets that wait for memory leave room for other QPs") {
    Story story({.mtu = 256, .connections = 2, .window_packets = 512, .dma_ops_max = 64});
    const Buffer from = story.a.filled(256 * 200);
    const Buffer stuck = story.b.buffer(256 * 200);
    const Buffer good = story.b.buffer(256);
    story.b.memory.hold();
    story.a.post(write(1, from.all(), stuck.at()), 0);
    story.run_for(10us);
    const std::size_t held = story.b.memory.pending();
    CHECK(held > 0);
    CHECK(held <= 33);
    CHECK(story.b.drops(protocol::DropReason::backlog_full) > 0);
    story.a.post(write(2, from.slice(0, 256), good.at()), 1);
    story.run_for(10us);
    CHECK(story.b.memory.pending() == held + 1);
    story.b.memory.release();
    story.run();
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\nwr=1 RDMA_WRITE ok\n");
    CHECK(same_bytes(stuck.bytes, from.bytes));
}

TEST_CASE("schedule: answers and requests of one QP take turns") {
    Script peer({{.mtu = 256}});
    const Buffer bytes = peer.nic.filled(256 * 40);
    peer.nic.stop_transmitting(true);
    peer.hear(peer.request(Op::read_request, 0, 0, bytes, 256 * 40));
    peer.post(write(1, bytes.all(), nowhere));
    peer.nic.stop_transmitting(false);
    peer.settle();
    const auto said = peer.packets();
    REQUIRE(said.size() == 80);
    int lead = 0;
    for (const RocePacket& packet : said) {
        lead += packet.is_response() ? 1 : -1;
        CHECK(lead >= 0);  // answers first
        CHECK(lead <= 1);
    }
}

TEST_CASE("schedule: a destroyed QP that was waiting for its turn is gone with the next poll") {
    Nic nic({}, 1);
    const Buffer from = nic.node.filled(8);
    REQUIRE(nic.node.post_now(Story::start, write(1, from.all(), nowhere)) == engine::Error::none);
    CHECK(nic.node.engine.transmit_pending());
    CHECK(nic.node.engine.destroy_qp(nic.node.qp()) == engine::Error::none);
    CHECK_FALSE(nic.transmit());
    CHECK_FALSE(nic.node.engine.exists(nic.node.qp()));
    CHECK_FALSE(nic.node.engine.transmit_pending());
}

}  // namespace rocem::test
