// What a queue takes, and what it refuses (the rows queue-limits and large).
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

using engine::Error;

std::size_t post_until_refused(Story& story, const SendRequest& request, Error& refusal) {
    for (std::size_t posted = 0;; ++posted) {
        REQUIRE(posted < 1000);
        refusal = story.a.post_now(story.now(), request);
        if (refusal != Error::none) return posted;
    }
}

}  // namespace

TEST_CASE("queue-limits: exactly max_send_wr posts fit, the next is ENOMEM, and the good ones run") {
    const std::uint32_t depth = GENERATE(1u, 16u, 100u);
    Story story({.cap = {depth, depth, 4, 4, 64}});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    CHECK(story.a.engine.send_room(story.a.qp()) == depth);
    Error refusal{};
    CHECK(post_until_refused(story, write(1, from.all(), to.at()), refusal) == depth);
    CHECK(refusal == Error::no_memory);
    CHECK(story.a.engine.send_room(story.a.qp()) == 0);
    story.run();
    CHECK(story.a.take_sent().size() == depth);
    CHECK(story.a.engine.send_room(story.a.qp()) == depth);
    CHECK(story.a.post_now(story.now(), write(2, from.all(), to.at())) == Error::none);
    story.run();
    CHECK(story.a.sent() == "wr=2 RDMA_WRITE ok\n");
}

TEST_CASE("queue-limits: exactly max_recv_wr receives fit, the next is ENOMEM") {
    const std::uint32_t depth = GENERATE(1u, 16u, 100u);
    Story story({.cap = {depth, depth, 4, 4, 64}});
    const Buffer to = story.b.buffer(8);
    CHECK(story.b.engine.receive_room(story.b.qp()) == depth);
    for (std::uint32_t i = 0; i < depth; ++i)
        REQUIRE(story.b.post_now(receive(i, to.all())) == Error::none);
    CHECK(story.b.post_now(receive(depth, to.all())) == Error::no_memory);
    CHECK(story.b.engine.receive_room(story.b.qp()) == 0);
    story.a.post(send_inline(1, pattern(8)));
    story.run();
    CHECK(story.b.received() == "wr=0 RECV ok len=8\n");
    CHECK(story.b.engine.receive_room(story.b.qp()) == 1);
}

TEST_CASE("queue-limits: a queue deeper than the engine takes ahead is filled as it drains") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool lazy = GENERATE(false, true);
    Story story({.dma = dma, .cap = {1000, 1000, 1, 1, 0}, .queued_wqes_max = 8, .lazy_receives = lazy});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    CHECK(story.a.engine.send_room(story.a.qp()) == 8);
    for (std::uint64_t id = 0; id < 500; ++id) {
        story.b.post(receive(id, to.all()));
        story.a.post(send(id, from.all()));
    }
    story.run();
    const auto sent = story.a.take_sent();
    const auto received = story.b.take_received();
    REQUIRE(sent.size() == 500);
    REQUIRE(received.size() == 500);
    for (std::size_t i = 0; i < 500; ++i) {
        REQUIRE(sent[i].wr_id == i);
        REQUIRE(received[i].wr_id == i);
        REQUIRE(received[i].status == engine::WcStatus::success);
    }
    CHECK(story.count(rnr_nak()) == 0);
}

TEST_CASE("queue-limits: what a post refuses with EINVAL, changing nothing") {
    Story story({.cap = {16, 16, 2, 2, 64}});
    const Buffer from = story.a.filled(8);
    const SgeList three = {from.all()[0], from.all()[0], from.all()[0]};
    const auto now = story.now();
    CHECK(story.a.post_now(now, send(1, three)) == Error::invalid);
    CHECK(story.a.post_now(receive(1, three)) == Error::invalid);
    const Error inlined = story.a.post_now(now, send_inline(1, pattern(65)));
    CHECK((inlined == Error::invalid || inlined == Error::no_memory));
    CHECK(story.a.post_now(now, send_inline(1, pattern(64))) == Error::none);
    SendRequest unknown = send(2, from.all());
    unknown.fields.opcode = static_cast<engine::WrOpcode>(77);
    CHECK(story.a.post_now(now, unknown) == Error::invalid);
    CHECK(story.a.engine.send_room(story.a.qp()) == 15);
}

TEST_CASE("queue-limits: posts by state: receives from INIT on, sends from RTS on") {
    using engine::QpState;
    Story story({.connections = 0});
    story.create_pair();
    const Buffer from = story.a.filled(8);
    const auto now = story.now();
    const auto refused_send = [&] { return story.a.post_now(now, send(1, from.all())) == Error::invalid; };

    CHECK(refused_send());
    CHECK(story.a.post_now(receive(1, from.all())) == Error::invalid);
    REQUIRE(story.modify(Side::a, QpState::init, required_mask(QpState::init)) == Error::none);
    CHECK(refused_send());
    CHECK(story.a.post_now(receive(1, from.all())) == Error::none);
    REQUIRE(story.modify(Side::a, QpState::rtr, required_mask(QpState::rtr)) == Error::none);
    CHECK(refused_send());
    CHECK(story.a.post_now(receive(2, from.all())) == Error::none);
    REQUIRE(story.modify(Side::a, QpState::rts, required_mask(QpState::rts)) == Error::none);
    CHECK(story.a.post_now(now, send(1, from.all())) == Error::none);
}

TEST_CASE("queue-limits: capabilities above the device's are refused, none is ever exceeded") {
    Story story;
    engine::QpInit init = story.init(Side::a);
    const engine::DeviceLimits limits = story.a.engine.settings().limits;
    const auto refused = [&](auto change) {
        engine::QpInit wrong = init;
        change(wrong);
        return !story.a.engine.create_qp(wrong).has_value();
    };
    CHECK(refused([&](auto& qp) { qp.cap.max_send_wr = limits.max_qp_wr + 1; }));
    CHECK(refused([&](auto& qp) { qp.cap.max_recv_wr = limits.max_qp_wr + 1; }));
    CHECK(refused([&](auto& qp) { qp.cap.max_send_sge = limits.max_sge + 1; }));
    CHECK(refused([&](auto& qp) { qp.cap.max_recv_sge = limits.max_sge + 1; }));
    CHECK(refused([&](auto& qp) { qp.cap.max_inline_data = limits.max_inline_data + 1; }));
    CHECK(refused([&](auto& qp) { qp.type = static_cast<engine::QpType>(77); }));
    CHECK(refused([&](auto& qp) { qp.requested_qpn = story.a.qpn(); }));
    init.cap = {limits.max_qp_wr, limits.max_qp_wr, limits.max_sge, limits.max_sge, limits.max_inline_data};
    CHECK(story.a.engine.create_qp(init).has_value());
    CHECK_FALSE(story.a.engine.create_cq(limits.max_cqe + 1).has_value());
    CHECK(story.a.engine.create_cq(limits.max_cqe).has_value());
}

TEST_CASE("access: REMOTE_WRITE and REMOTE_ATOMIC of an MR demand LOCAL_WRITE") {
    Story story;
    engine::MrSpec spec;
    spec.va = 0x1000;
    spec.length = 4096;
    spec.region = story.a.memory.add_region(4096);
    for (const std::uint32_t right : {engine::access_remote_write, engine::access_remote_atomic}) {
        spec.access = right;
        CHECK_FALSE(story.a.engine.register_mr(story.a.pd, spec).has_value());
        spec.access = right | engine::access_local_write;
        CHECK(story.a.engine.register_mr(story.a.pd, spec).has_value());
    }
    spec.access = engine::access_remote_read;
    CHECK(story.a.engine.register_mr(story.a.pd, spec).has_value());
    spec.va = 0xfffffffffffff000;
    spec.length = 0x1001;  // ends past the end of all addresses
    CHECK_FALSE(story.a.engine.register_mr(story.a.pd, spec).has_value());
}

TEST_CASE("objects in use are busy, and the counts return to 0") {
    Story story({.connections = 0});
    engine::Engine& nic = story.a.engine;
    const std::uint32_t cqs = nic.cq_count();
    const auto pd = *nic.create_pd();
    const auto cq = *nic.create_cq(16);
    engine::MrSpec spec;
    spec.length = 64;
    spec.region = story.a.memory.add_region(64);
    const auto mr = *nic.register_mr(pd, spec);
    engine::QpInit init = story.init(Side::a);
    init.pd = pd;
    init.send_cq = cq;
    const auto qp = *nic.create_qp(init);
    CHECK(nic.destroy_pd(pd) == Error::busy);
    CHECK(nic.destroy_cq(cq) == Error::busy);
    CHECK(nic.destroy_qp(qp.handle) == Error::none);
    CHECK(nic.destroy_pd(pd) == Error::busy);
    CHECK(nic.deregister_mr(mr.handle) == Error::none);
    CHECK(nic.destroy_cq(cq) == Error::none);
    CHECK(nic.destroy_pd(pd) == Error::none);
    CHECK(nic.destroy_pd(pd) == Error::not_found);
    CHECK(nic.destroy_cq(cq) == Error::not_found);
    CHECK(nic.destroy_qp(qp.handle) == Error::not_found);
    CHECK(nic.deregister_mr(mr.handle) == Error::not_found);
    CHECK(nic.qp_count() == 0);
    CHECK(nic.mr_count() == 0);
    CHECK(nic.cq_count() == cqs);
    CHECK(nic.pd_count() == 1);
    CHECK_FALSE(nic.exists(qp.handle));
    CHECK_FALSE(nic.find_qp(qp.qpn).has_value());
}

// --- the row large ---

namespace {

void write_large(std::uint64_t length, std::uint32_t mtu) {
    Story story({.mtu = mtu, .first_psn = 0xfffff0});
    const Buffer from = story.a.phantom(length);
    const Buffer to = story.b.phantom(length);
    story.wire.keep_log(false);
    story.a.post(write(1, from.slice(0, static_cast<std::uint32_t>(length)), to.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\n");
    CHECK(story.wire.frames_sent(Side::a) == length / mtu);
    CHECK(story.b.memory.bytes_moved(to.region) == length);
    CHECK(story.a.memory.bytes_moved(from.region) == length);
}

bool long_tests_wanted() {
    return std::getenv("ROCEM_LONG_TESTS") != nullptr;
}

}  // namespace

TEST_CASE("large: a WRITE of 2^30 bytes is whole; 2^31 and MTU 1024 with ROCEM_LONG_TESTS=1") {
    write_large(std::uint64_t{1} << 30, 4096);
    if (long_tests_wanted()) {
        write_large(std::uint64_t{1} << 31, 4096);
        write_large(std::uint64_t{1} << 30, 1024);
        write_large(std::uint64_t{1} << 31, 1024);  // 2,097,152 packets
    }
}

TEST_CASE("large: a message above max_msg_sz is refused with nothing on the wire, never truncated") {
    const bool summed = GENERATE(false, true);
    const int verb = GENERATE(0, 1, 2);
    Story story;
    const Buffer from = story.a.phantom(std::uint64_t{1} << 32);
    const Buffer to = story.b.phantom(std::uint64_t{1} << 33);
    SgeList sges = from.slice(0, 0x80000001u);
    // Sums to 2^32 + 4: 4 in 32 bits.
    if (summed) sges = {from.slice(0, 0x80000000u)[0], from.slice(0, 0x80000000u)[0], from.slice(0, 4)[0]};
    const SendRequest request = verb == 0   ? write(1, sges, to.at())
                                : verb == 1 ? send(1, sges)
                                            : read(1, sges, to.at());
    const Error error = story.a.post_now(story.now(), request);
    story.run();
    if (error == Error::none) {
        CHECK(story.a.sent() == "wr=1 LOC_LEN_ERR\n");
    } else {
        CHECK(error == Error::invalid);
        CHECK(story.a.sent().empty());
        CHECK(story.a.state() == engine::QpState::rts);
    }
    CHECK(story.log().empty());
}

}  // namespace rocem::test
