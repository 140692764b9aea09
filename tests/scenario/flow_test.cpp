// How much is sent ahead, when an ACK is asked for, how the send queue drains, and who sends next
// (rocev2.md 5.9.9, 5.9.14; architecture decisions 10 and 12).
#include <array>
#include <catch2/catch.hpp>

#include "tests/support/story.hpp"

namespace rocem::test {

TEST_CASE("window: no more than so many request packets are unacknowledged") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t window = GENERATE(2u, 7u, 128u);
    Story story({.dma = dma, .mtu = 256, .latency = 50us, .window_packets = window});
    const Buffer from = story.a.filled(256 * 500);
    const Buffer to = story.b.buffer(256 * 500);
    story.a.post(write(1, from.all(), to.at()));
    story.run();

    // What A has sent beyond what an ACK that reached it covers.
    std::int32_t sent = -1;
    std::int32_t most = 0;
    std::vector<std::pair<engine::Time, std::int32_t>> acks;
    for (const Sighting& sighting : story.sightings(ack()))
        acks.emplace_back(sighting.time + 50us, sighting.psn);
    for (const Sighting& sighting : story.sightings(any_request())) {
        std::int32_t acknowledged = -1;
        for (const auto& [time, psn] : acks) {
            if (time <= sighting.time) acknowledged = psn;
        }
        sent = sighting.psn;
        most = std::max(most, sent - acknowledged);
    }
    CHECK(most == static_cast<std::int32_t>(window));
    CHECK(story.count(any_request()) == 500);
    CHECK(story.a.counters().retransmission_rounds == 0);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE(
    "5.9.9: an ACK is asked for on the last packet, and at least every ack_request_packets inside a "
    "message") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t every = GENERATE(1u, 16u, 64u);
    Story story({.dma = dma, .mtu = 256, .ack_request_packets = every});
    const Buffer from = story.a.filled(256 * 200);
    const Buffer to = story.b.buffer(256 * 200);
    story.a.post(write(1, from.all(), to.at()));
    story.run();
    unsigned without = 0;
    const auto packets = story.sightings(any_request());
    REQUIRE(packets.size() == 200);
    unsigned asked = 0;
    for (const Sighting& sighting : packets) {
        without = sighting.packet.ack_request ? 0 : without + 1;
        asked += sighting.packet.ack_request ? 1 : 0;
        REQUIRE(without < every);
    }
    CHECK(packets.back().packet.ack_request);
    CHECK(asked <= 200 / every + 2);
    // A responder need not answer each one by itself (5.8.11), but never more than were asked for.
    CHECK(story.count(ack()) <= asked);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("MigReq of all that is sent is what the settings say") {
    const bool mig_req = GENERATE(true, false);
    Story story({.dma = ANY_DMA_MODE(), .mig_req = mig_req});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(read(2, from.all(), to.at()));
    story.run();
    REQUIRE(story.wire.log().size() == 4);
    for (const Sighting& sighting : story.wire.log())
        CHECK(sighting.packet.mig_req == mig_req);
}

TEST_CASE("5.9.14: SQD finishes what was started, begins nothing, and says so once when asked to") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool notify = GENERATE(false, true);
    Story story({.dma = dma, .latency = 10us, .window_packets = 4});
    const Buffer from = story.a.filled(20 * 1024);
    const Buffer to = story.b.buffer(20 * 1024);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(write(2, from.slice(0, 8), to.at()));
    REQUIRE(story.run_until([&] { return story.count(any_request()) >= 2; }));

    engine::QpAttributes wanted = story.attributes(Side::a);
    wanted.state = engine::QpState::sqd;
    wanted.en_sqd_async_notify = notify;
    REQUIRE(story.a.engine.modify_qp(story.now(), story.a.qp(), wanted,
                                     engine::attr_state | engine::attr_en_sqd_async_notify) ==
            engine::Error::none);
    CHECK(story.a.engine.query_qp(story.a.qp())->sq_draining);
    story.run();
    CHECK(story.count(any_request()) == 20);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(story.a.events() == (notify ? "SQ_DRAINED\n" : ""));
    CHECK(story.a.state() == engine::QpState::sqd);
    CHECK_FALSE(story.a.engine.query_qp(story.a.qp())->sq_draining);

    REQUIRE(story.modify(Side::a, engine::QpState::rts) == engine::Error::none);
    story.run();
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\n");
    CHECK(story.count(any_request()) == 21);
}

TEST_CASE("5.9.14: a drained SQD queue takes posts and keeps them; responses and receives go on") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(64);
    const Buffer to = story.b.filled(64, 2);
    const Buffer sink = story.a.buffer(64);
    engine::QpAttributes wanted = story.attributes(Side::a);
    wanted.state = engine::QpState::sqd;
    wanted.en_sqd_async_notify = true;
    REQUIRE(story.a.engine.modify_qp(story.now(), story.a.qp(), wanted,
                                     engine::attr_state | engine::attr_en_sqd_async_notify) ==
            engine::Error::none);
    story.run();
    CHECK(story.a.events() == "SQ_DRAINED\n");
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(receive(7, sink.all()));
    story.b.post(send(2, to.all()));
    story.run();
    CHECK(story.b.sent() == "wr=2 SEND ok\n");
    CHECK(story.a.received() == "wr=7 RECV ok len=64\n");
    CHECK(story.a.sent().empty());
    CHECK(story.count(any_request()) == 0);
    REQUIRE(story.modify(Side::a, engine::QpState::rts) == engine::Error::none);
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
}

TEST_CASE("5.8.15: the first message in RTR says COMM_EST, once") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .connections = 0});
    story.create_pair();
    story.connect(0, 100, 200);
    // B again, and only to RTR.
    REQUIRE(story.modify(Side::b, engine::QpState::reset) == engine::Error::none);
    engine::QpAttributes wanted = story.attributes(Side::b);
    wanted.rq_psn = protocol::Psn(100);
    for (const auto state : {engine::QpState::init, engine::QpState::rtr}) {
        wanted.state = state;
        REQUIRE(story.b.engine.modify_qp(story.now(), story.b.qp(), wanted, required_mask(state)) ==
                engine::Error::none);
    }
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(write(2, from.all(), to.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\n");
    CHECK(story.b.events() == "COMM_EST\n");
    CHECK(story.b.state() == engine::QpState::rtr);
}

TEST_CASE("decision 12: a full completion queue dies once, and takes its QPs to ERR") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .connections = 2, .cq_capacity = 3});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    for (std::uint64_t id = 1; id <= 3; ++id)
        story.a.post(write(id, from.all(), to.at()));
    story.run();
    CHECK(story.a.events().empty());
    CHECK(story.a.state(0) == engine::QpState::rts);

    story.a.post(write(4, from.all(), to.at()));
    story.a.post(write(5, from.all(), to.at()));
    story.run();
    const auto events = story.a.take_events();
    unsigned cq_errors = 0;
    for (const auto& event : events) {
        if (event.type != engine::EventType::cq_error) continue;
        ++cq_errors;
        CHECK(event.cq == story.a.send_cq);
    }
    CHECK(cq_errors == 1);
    CHECK(story.a.counters().cq_overflows == 1);
    CHECK(story.a.state(0) == engine::QpState::error);
    CHECK(story.a.state(1) == engine::QpState::error);
    CHECK(story.b.state(0) == engine::QpState::rts);
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 RDMA_WRITE ok\nwr=3 RDMA_WRITE ok\n");
}

TEST_CASE("fairness: a hundred QPs take turns") {
    const DmaMode dma = GENERATE(DmaMode{0}, DmaMode{3});
    constexpr unsigned pairs = 100;
    Story story({.dma = dma, .mtu = 256, .connections = pairs});
    const Buffer from = story.a.filled(256 * 64);
    const Buffer to = story.b.buffer(256 * 64);
    for (unsigned qp = 0; qp < pairs; ++qp)
        story.a.post(write(qp, from.all(), to.at()), qp);
    // Half of all packets: nobody may be far ahead, nobody forgotten.
    REQUIRE(story.run_until([&] { return story.wire.frames_sent(Side::a) >= pairs * 32; }));
    std::array<unsigned, pairs> sent{};
    for (const Sighting& sighting : story.wire.log()) {
        if (sighting.from == Side::a) ++sent[sighting.flow];
    }
    const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
    CHECK(*least >= 8);
    CHECK(*most <= 64);
    story.run();
    CHECK(story.a.take_sent().size() == pairs);
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("noisy neighbours: sixteen QPs that lose everything do not slow a clean one") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma, .connections = 17, .timeout = 5, .retry_cnt = 7});
    const Buffer from = story.a.filled(8192);
    const Buffer to = story.b.buffer(8192);
    for (unsigned qp = 1; qp <= 16; ++qp) {
        story.lose(any_request().always().on(qp));
        for (std::uint64_t id = 0; id < 20; ++id)
            story.a.post(write(id, from.all(), to.at()), qp);
    }
    for (std::uint64_t id = 0; id < 20; ++id)
        story.a.post(write(id, from.all(), to.at()), 0);
    const auto clean_is_done = [&] {
        std::size_t acknowledged = 0;
        for (const Sighting& sighting : story.sightings(ack()))
            acknowledged = sighting.packet.msn;
        return acknowledged == 20;
    };
    REQUIRE(story.run_until(clean_is_done));
    CHECK(story.since_start() < 131us);  // the others have not even timed out once
    story.run();
    std::size_t good = 0;
    for (const auto& completion : story.a.take_sent()) {
        const bool clean = completion.qp == story.a.qp(0);
        CHECK(clean == (completion.status == engine::WcStatus::success));
        good += clean ? 1 : 0;
    }
    CHECK(good == 20);
    for (unsigned qp = 0; qp <= 16; ++qp) {
        CHECK(story.a.state(qp) == (qp == 0 ? engine::QpState::rts : engine::QpState::error));
    }
}

TEST_CASE("an idle QP costs nothing: ten thousand of them have no deadline and nothing to send") {
    NodeSettings settings = node_settings({}, Side::a);
    settings.engine.limits.max_qp = 10'016;
    Node nic(settings);
    engine::QpInit init;
    init.pd = nic.pd;
    init.send_cq = nic.send_cq;
    init.recv_cq = nic.recv_cq;
    engine::QpAttributes wanted = attributes_of({}, address_of(2), protocol::Qpn(0x123));
    for (unsigned i = 0; i < 10'000; ++i) {
        const auto qp = nic.engine.create_qp(init);
        REQUIRE(qp.has_value());
        for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
            wanted.state = state;
            REQUIRE(nic.engine.modify_qp(Story::start, qp->handle, wanted, required_mask(state)) ==
                    engine::Error::none);
        }
    }
    CHECK(nic.engine.qp_count() == 10'000);
    CHECK(nic.engine.next_deadline() == engine::never);
    std::vector<std::byte> buffer(4096 + 256);
    for (int i = 0; i < 1'000'000; ++i) {
        if (nic.engine.poll_transmit(Story::start, buffer)) FAIL("an idle QP sends");
    }
    CHECK_FALSE(nic.engine.transmit_pending());
}

}  // namespace rocem::test
