// What the engine promises to the worker that drives it: DMA operations, frames, wanted work, names
// (engine.hpp, dma.hpp; architecture decisions 2, 4 and 15).
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/story.hpp"

namespace rocem::test {

TEST_CASE("decision 4: the last byte of a message is told apart, so that it becomes visible last") {
    const int verb = GENERATE(0, 1, 2);
    const std::uint32_t size = GENERATE(1u, 1024u, 2500u);
    CAPTURE(verb, size);
    Story story({.dma = ANY_DMA_MODE()});
    Node& sink_node = verb == 2 ? story.a : story.b;
    Node& source_node = verb == 2 ? story.b : story.a;
    sink_node.memory.keep_operations();
    const Buffer source = source_node.filled(size);
    const Buffer sink = sink_node.buffer(size);
    story.b.post(receive(7, sink.all()));
    story.a.post(verb == 0   ? send(1, source.all())
                 : verb == 1 ? write(1, source.all(), sink.at())
                             : read(1, sink.all(), source.at()));
    story.run();
    REQUIRE(same_bytes(sink.bytes, source.bytes));
    const engine::DmaOp* last = nullptr;
    for (const engine::DmaOp& op : sink_node.memory.operations()) {
        if (op.kind == engine::DmaKind::write && op.region_offset + op.length == size) last = &op;
    }
    REQUIRE(last != nullptr);
    CHECK(last->last_byte_last);
}

TEST_CASE("decision 2: operations carry different ids, their QP, and stay inside dma_ops_max") {
    Story story({.dma = {17}, .mtu = 256, .connections = 4, .dma_ops_max = 128});
    story.a.memory.keep_operations();
    const Buffer from = story.a.filled(256 * 40);
    const Buffer to = story.b.buffer(256 * 40);
    for (unsigned qp = 0; qp < 4; ++qp)
        story.a.post(write(qp, from.all(), to.at()), qp);
    std::size_t most = 0;
    story.run_until([&] {
        most = std::max({most, story.a.memory.pending(), story.b.memory.pending()});
        return false;
    });
    CHECK(most <= 128);
    CHECK(story.a.take_sent().size() == 4);
    CHECK(same_bytes(to.bytes, from.bytes));
    std::set<std::uint64_t> ids;
    for (const engine::DmaOp& op : story.a.memory.operations()) {
        ids.insert(op.id);
        CHECK(op.region == from.region);
    }
    CHECK(ids.size() == story.a.memory.operations().size());
}

TEST_CASE("few frame slots: a message of many packets crosses with two under construction") {
    Story story({.dma = ANY_DMA_MODE(), .mtu = 256, .tx_frames_max = 2});
    const Buffer from = story.a.filled(256 * 50);
    const Buffer to = story.b.buffer(256 * 50);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(read(2, from.all(), to.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_READ ok len=12800\n");
    CHECK(story.a.counters().retransmission_rounds == 0);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("no room, no poll: what is not asked for is not lost, and no timer runs for it") {
    Story story({.dma = ANY_DMA_MODE(), .timeout = 8});
    const Buffer from = story.a.filled(3000);
    const Buffer to = story.b.buffer(3000);
    story.a.stop_transmitting(true);
    story.a.post(write(1, from.all(), to.at()));
    story.run_for(1s);
    CHECK(story.log().empty());
    CHECK(story.a.engine.transmit_pending());
    CHECK(story.a.counters().local_ack_timeout_err == 0);
    story.a.stop_transmitting(false);
    story.run();
    CHECK(story.count(any_request()) == 3);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK_FALSE(story.a.engine.transmit_pending());
}

TEST_CASE("a responder without room to transmit answers late, not wrong") {
    Story story({.dma = ANY_DMA_MODE(), .timeout = 14});
    const Buffer from = story.a.filled(3000);
    const Buffer to = story.b.buffer(3000);
    story.b.stop_transmitting(true);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(read(2, from.all(), to.at()));
    story.run_for(10ms);
    story.b.stop_transmitting(false);
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_READ ok len=3000\n");
    CHECK(story.a.counters().local_ack_timeout_err == 0);
}

TEST_CASE("a neighbour that moves: frames go to the new MAC address from then on") {
    Story story;
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    const Address moved{{2, 0, 0, 0, 0, 0x77}, story.b.address.ip};
    story.lose(request(1).always());
    story.a.engine.update_destination_mac(gid_of(story.b.address), mac_of(moved));
    story.a.post(write(2, from.all(), to.at()));
    story.run_for(10us);
    const auto packets = story.sightings(any_request());
    REQUIRE(packets.size() == 2);
    const auto destination = [](const Sighting& sighting) { return std::to_integer<int>(sighting.frame[5]); };
    CHECK(destination(packets[0]) == 2);
    CHECK(destination(packets[1]) == 0x77);
}

TEST_CASE(
    "5.6: the UDP source port is the flow label's, or comes from the QPNs, the same in both directions") {
    const std::uint32_t label = GENERATE(0u, 0xabcdeu);
    Story story({.connections = 0});
    const unsigned number = story.create_pair();
    for (const Side side : {Side::a, Side::b}) {
        engine::QpAttributes wanted = story.attributes(side);
        wanted.av.flow_label = label;
        wanted.sq_psn = wanted.rq_psn = protocol::Psn(100);
        for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
            wanted.state = state;
            REQUIRE(story.node(side).engine.modify_qp(story.now(), story.node(side).qp(number), wanted,
                                                      required_mask(state)) == engine::Error::none);
        }
    }
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    std::uint64_t product = std::uint64_t{story.a.qpn().value()} * story.b.qpn().value();
    product ^= product >> 20;
    product ^= product >> 40;
    const auto used = static_cast<std::uint32_t>(label != 0 ? label : product & 0xfffff);
    const std::uint32_t port = ((used & 0x3fff) ^ (used >> 14)) | 0xc000;
    REQUIRE(story.wire.log().size() == 2);
    for (const Sighting& sighting : story.wire.log())
        CHECK(sighting.outer.source_port == port);
}

TEST_CASE("decision 15: names are drawn from the seed: the same again for the same, others for another") {
    const auto draw = [](std::uint64_t seed) {
        Story story({.connections = 2, .seed = seed});
        const Buffer buffer = story.a.buffer(8);
        return std::tuple(story.a.qpn(0), story.a.qpn(1), buffer.mr.r_key, story.a.engine.random_psn());
    };
    CHECK(draw(1) == draw(1));
    CHECK_FALSE(draw(1) == draw(2));
    Story story({.connections = 2});
    CHECK_FALSE(story.a.qpn(0) == story.a.qpn(1));
    CHECK(story.a.qpn(0).value() > 1);
    std::set<std::uint32_t> keys;
    for (int i = 0; i < 100; ++i)
        keys.insert(story.a.buffer(8).mr.r_key.value() >> 8);
    CHECK(keys.size() == 100);
    const std::set<std::uint32_t> gaps = [&] {
        std::set<std::uint32_t> differences;
        for (auto at = keys.begin(); std::next(at) != keys.end(); ++at)
            differences.insert(*std::next(at) - *at);
        return differences;
    }();
    CHECK(gaps.size() > 50);  // no step leads from one key to the next
}

TEST_CASE("decision 17: a NIC talks to itself over its own wire") {
    const DmaMode dma = ANY_DMA_MODE();
    Node nic(node_settings({.dma = dma}, Side::a));
    engine::QpInit init;
    init.pd = nic.pd;
    init.send_cq = nic.send_cq;
    init.recv_cq = nic.recv_cq;
    init.cap = StoryOptions{}.cap;
    for (int i = 0; i < 2; ++i)
        nic.add_qp(init);
    for (unsigned i = 0; i < 2; ++i) {
        engine::QpAttributes wanted = attributes_of({}, nic.address, nic.qpn(1 - i));
        for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
            wanted.state = state;
            REQUIRE(nic.engine.modify_qp(Story::start, nic.qp(i), wanted, required_mask(state)) ==
                    engine::Error::none);
        }
    }
    const Buffer from = nic.filled(5000);
    const Buffer to = nic.buffer(5000);
    nic.post(receive(7, to.all()), 1);
    nic.post(send(1, from.all()), 0);
    engine::Time now = Story::start;
    while (nic.turn(now) || nic.dma_pending()) {
        for (auto& frame : nic.take_frames())
            nic.deliver(std::move(frame));
        now += turn_time;
    }
    CHECK(nic.sent() == "wr=1 SEND ok\n");
    CHECK(nic.received() == "wr=7 RECV ok len=5000\n");
    CHECK(same_bytes(to.bytes, from.bytes));
    CHECK(nic.violations().empty());
}

}  // namespace rocem::test
