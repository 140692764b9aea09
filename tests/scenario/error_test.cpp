// What ends a connection, who hears of it, and how the rest is flushed (the rows flush and access;
// rocev2.md 5.8.5 to 5.8.8, 5.8.15, 5.9.5, 5.9.12).
#include <catch2/catch.hpp>
#include <functional>

#include "tests/support/story.hpp"

namespace rocem::test {

TEST_CASE("flush: a bad rkey, then good WRITEs, receives on both sides, and posts in ERR") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    const Buffer spare = story.a.buffer(8);
    for (std::uint64_t id = 1; id <= 4; ++id) {
        story.a.post(receive(10 + id, spare.all()));
        story.b.post(receive(20 + id, to.all()));
    }
    RemoteAddress wrong = to.at();
    wrong.r_key = protocol::RKey(number_of(wrong.r_key) ^ 0x100);
    story.a.post(write(1, from.all(), wrong));
    for (std::uint64_t id = 2; id <= 6; ++id)
        story.a.post(write(id, from.all(), to.at()).unsignaled());
    story.run();

    CHECK(story.log_from(Side::b) == "B>A NAK_REMOTE_ACCESS psn=+0 msn=0\n");
    CHECK(story.a.sent() == lines(R"(
        wr=1 REM_ACCESS_ERR
        wr=2 WR_FLUSH_ERR
        wr=3 WR_FLUSH_ERR
        wr=4 WR_FLUSH_ERR
        wr=5 WR_FLUSH_ERR
        wr=6 WR_FLUSH_ERR
    )"));
    CHECK(story.a.received() == lines(R"(
        wr=11 WR_FLUSH_ERR
        wr=12 WR_FLUSH_ERR
        wr=13 WR_FLUSH_ERR
        wr=14 WR_FLUSH_ERR
    )"));
    CHECK(story.b.received() == lines(R"(
        wr=21 WR_FLUSH_ERR
        wr=22 WR_FLUSH_ERR
        wr=23 WR_FLUSH_ERR
        wr=24 WR_FLUSH_ERR
    )"));
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(story.b.state() == engine::QpState::error);
    CHECK(story.b.events().find("QP_ACCESS_ERR\n") != std::string::npos);
    CHECK(same_bytes(to.bytes, std::vector<std::byte>(8)));

    // Later posts are accepted and flushed.
    CHECK(story.a.post_now(story.now(), send(7, from.all())) == engine::Error::none);
    CHECK(story.a.post_now(receive(15, spare.all())) == engine::Error::none);
    CHECK(story.b.post_now(receive(25, to.all())) == engine::Error::none);
    story.run();
    CHECK(story.a.sent() == "wr=7 WR_FLUSH_ERR\n");
    CHECK(story.a.received() == "wr=15 WR_FLUSH_ERR\n");
    CHECK(story.b.received() == "wr=25 WR_FLUSH_ERR\n");

    CHECK(story.a.counters().req_remote_access_errors == 1);
    CHECK(story.a.counters().req_cqe_flush_error == 6);
    CHECK(story.b.counters().resp_remote_access_errors == 1);
    CHECK(story.b.counters().resp_cqe_flush_error == 5);
}

TEST_CASE(
    "flush: the error completion is made though the request is unsignaled, earlier ones complete first") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.a.post(write(1, from.all(), to.at()));
    story.a.post(write(2, from.all(), {to.va + 8, to.mr.r_key}).unsignaled());
    story.a.post(write(3, from.all(), to.at()));
    story.run();
    CHECK(story.a.sent() == lines(R"(
        wr=1 RDMA_WRITE ok
        wr=2 REM_ACCESS_ERR
        wr=3 WR_FLUSH_ERR
    )"));
    CHECK(same_bytes(to.bytes, from.bytes));
}

TEST_CASE("modify to ERR flushes both queues in order") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    story.lose(any_request().always());
    for (std::uint64_t id = 1; id <= 3; ++id) {
        story.a.post(write(id, from.all(), to.at()));
        story.a.post(receive(10 + id, from.all()));
    }
    story.run_for(10us);
    REQUIRE(story.modify(Side::a, engine::QpState::error) == engine::Error::none);
    story.run();
    CHECK(story.a.sent() == "wr=1 WR_FLUSH_ERR\nwr=2 WR_FLUSH_ERR\nwr=3 WR_FLUSH_ERR\n");
    CHECK(story.a.received() == "wr=11 WR_FLUSH_ERR\nwr=12 WR_FLUSH_ERR\nwr=13 WR_FLUSH_ERR\n");
    CHECK(story.a.engine.next_deadline() == engine::never);
}

// --- the row access: the responder's side ---

namespace {

struct Remote {
    const char* name;
    std::uint32_t mr_access;
    std::uint32_t qp_access;
    std::function<void(Story&, Buffer&, RemoteAddress&, std::uint32_t& length)> spoil;
    std::uint8_t syndrome;
    engine::WcStatus status;
};

constexpr std::uint32_t qp_all =
    engine::access_remote_write | engine::access_remote_read | engine::access_remote_atomic;

const Remote remote_cases[] = {
    {"MR of another PD", access_all, qp_all,
     [](Story& story, Buffer&, RemoteAddress& remote, std::uint32_t&) {
         const auto foreign = story.b.engine.create_pd();
         const Buffer other = story.b.buffer(64, access_all, *foreign);
         remote = other.at();
     },
     syndrome_remote_access, engine::WcStatus::remote_access_error},
    {"one byte past the end", access_all, qp_all,
     [](Story&, Buffer&, RemoteAddress& remote, std::uint32_t&) { remote.va += 57; }, syndrome_remote_access,
     engine::WcStatus::remote_access_error},
    {"one byte before the start", access_all, qp_all,
     [](Story&, Buffer&, RemoteAddress& remote, std::uint32_t&) { remote.va -= 1; }, syndrome_remote_access,
     engine::WcStatus::remote_access_error},
    {"an address whose end wraps at 2^64", access_all, qp_all,
     [](Story&, Buffer&, RemoteAddress& remote, std::uint32_t& length) {
         remote.va = 0xfffffffffffff000;
         length = 0x2000;
     },
     syndrome_remote_access, engine::WcStatus::remote_access_error},
    {"an unknown key", access_all, qp_all,
     [](Story&, Buffer&, RemoteAddress& remote, std::uint32_t&) {
         remote.r_key = protocol::RKey(0xdeadbeef);
     },
     syndrome_remote_access, engine::WcStatus::remote_access_error},
    {"a deregistered key", access_all, qp_all,
     [](Story& story, Buffer& target, RemoteAddress&, std::uint32_t&) {
         REQUIRE(story.b.engine.deregister_mr(target.mr.handle) == engine::Error::none);
     },
     syndrome_remote_access, engine::WcStatus::remote_access_error},
    {"MR without the right", engine::access_local_write, qp_all,
     [](Story&, Buffer&, RemoteAddress&, std::uint32_t&) {}, syndrome_remote_access,
     engine::WcStatus::remote_access_error},
    {"QP without the right", access_all, 0, [](Story&, Buffer&, RemoteAddress&, std::uint32_t&) {},
     syndrome_invalid_request, engine::WcStatus::remote_invalid_request_error},
};

}  // namespace

TEST_CASE("access: what the responder refuses of WRITE and READ, with nothing written") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool reading = GENERATE(false, true);
    for (const Remote& row : remote_cases) {
        CAPTURE(row.name, reading);
        Story story({.dma = dma, .access = row.qp_access});
        const Buffer local = story.a.filled(0x2000);
        Buffer target = story.b.buffer(64, row.mr_access);
        RemoteAddress remote = target.at();
        std::uint32_t length = 8;
        row.spoil(story, target, remote, length);

        story.a.post(reading ? read(1, local.slice(0, length), remote)
                             : write(1, local.slice(0, length), remote));
        story.run();

        REQUIRE(story.count(nak()) == 1);
        CHECK(story.sightings(nak())[0].packet.syndrome == row.syndrome);
        CHECK(story.sightings(nak())[0].psn == 0);
        CHECK(story.a.sent() == "wr=1 " + std::string(name_of(row.status)) + "\n");
        CHECK(story.b.state() == engine::QpState::error);
        CHECK(story.b.memory.guards_intact(target.region));
        CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
        CHECK(same_bytes(local.bytes, pattern(0x2000)));
        const std::string events = story.b.events();
        const bool access_event = events.find("QP_ACCESS_ERR") != std::string::npos;
        CHECK(access_event == (row.syndrome == syndrome_remote_access));
    }
}

TEST_CASE("access: atomics need REMOTE_ATOMIC of the MR (0x62) and of the QP (0x61)") {
    const DmaMode dma = ANY_DMA_MODE();
    const bool qp_lacks = GENERATE(false, true);
    Story story({.dma = dma, .access = qp_lacks ? qp_all & ~engine::access_remote_atomic : qp_all});
    const Buffer result = story.a.buffer(8);
    const Buffer target =
        story.b.buffer(8, qp_lacks ? access_all : access_all & ~std::uint32_t{engine::access_remote_atomic});
    story.a.post(fetch_add(1, result.all(), target.at(), 1));
    story.run();
    REQUIRE(story.count(nak()) == 1);
    CHECK(story.sightings(nak())[0].packet.syndrome ==
          (qp_lacks ? syndrome_invalid_request : syndrome_remote_access));
    CHECK(story.a.sent() == (qp_lacks ? "wr=1 REM_INV_REQ_ERR\n" : "wr=1 REM_ACCESS_ERR\n"));
    CHECK(target.bytes[0] == std::byte{0});
}

// --- the row access: the requester's side ---

TEST_CASE("access: a local SGE that the requester may not use is a protection error, nothing is sent") {
    const DmaMode dma = ANY_DMA_MODE();
    const int which = GENERATE(0, 1, 2, 3, 4);
    CAPTURE(which);
    Story story({.dma = dma});
    const Buffer local = story.a.filled(64);
    const Buffer target = story.b.buffer(64);
    SgeList sges = local.all();
    bool reading = false;
    switch (which) {
        case 0:
            sges[0].l_key = protocol::LKey(0xdeadbeef);
            break;
        case 1:
            sges[0].addr += 1;
            break;
        case 2:
            sges[0].addr = 0xfffffffffffffff0;
            break;
        case 3: {
            const auto foreign = story.a.engine.create_pd();
            sges = story.a.buffer(64, access_all, *foreign).all();
            break;
        }
        default:  // a READ into memory without LOCAL_WRITE
            sges = story.a.buffer(64, 0).all();
            reading = true;
            break;
    }
    story.a.post(reading ? read(1, sges, target.at()) : write(1, sges, target.at()));
    story.a.post(write(2, local.all(), target.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 LOC_PROT_ERR\nwr=2 WR_FLUSH_ERR\n");
    CHECK(story.log().empty());
    CHECK(story.a.state() == engine::QpState::error);
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
}

TEST_CASE("5.9.12: requests before a local error complete") {
    const DmaMode dma = ANY_DMA_MODE();
    Story story({.dma = dma});
    const Buffer local = story.a.filled(64);
    const Buffer target = story.b.buffer(64);
    SgeList bad = local.all();
    bad[0].l_key = protocol::LKey(0xdeadbeef);
    story.a.post(write(1, local.all(), target.at()));
    story.a.post(write(2, bad, target.at()));
    story.a.post(write(3, local.all(), target.at()));
    story.run();
    CHECK(story.a.sent() == "wr=1 RDMA_WRITE ok\nwr=2 LOC_PROT_ERR\nwr=3 WR_FLUSH_ERR\n");
    CHECK(same_bytes(target.bytes, local.bytes));
}

// --- receives ---

TEST_CASE("5.8.5: a SEND longer than the receive is 0x61, and a local length error") {
    const DmaMode dma = ANY_DMA_MODE();
    const std::uint32_t room = GENERATE(0u, 99u, 1024u, 1500u, 2047u);
    Story story({.dma = dma});
    const std::uint32_t length = room == 99 ? 100 : 2048;
    const Buffer from = story.a.filled(length);
    const Buffer to = story.b.buffer(2048);
    story.b.post(receive(7, to.slice(0, room)));
    story.b.post(receive(8, to.all()));
    story.a.post(send(1, from.all()));
    story.run();
    REQUIRE(story.count(nak()) == 1);
    CHECK(story.sightings(nak())[0].packet.syndrome == syndrome_invalid_request);
    CHECK(story.a.sent() == "wr=1 REM_INV_REQ_ERR\n");
    CHECK(story.b.received() == "wr=7 LOC_LEN_ERR\nwr=8 WR_FLUSH_ERR\n");
    CHECK(story.b.counters().resp_local_length_error == 1);
    CHECK(same_bytes(to.bytes.subspan(room), std::vector<std::byte>(2048 - room)));
}

TEST_CASE("5.8.8: a receive whose memory may not be used is 0x63, and a local protection error") {
    const DmaMode dma = ANY_DMA_MODE();
    const int which = GENERATE(0, 1, 2);
    CAPTURE(which);
    Story story({.dma = dma});
    const Buffer from = story.a.filled(8);
    const Buffer to = story.b.buffer(8);
    SgeList sges = to.all();
    if (which == 0) sges[0].l_key = protocol::LKey(0xdeadbeef);
    if (which == 1) sges = story.b.buffer(8, 0).all();  // no LOCAL_WRITE
    if (which == 2) {
        const auto foreign = story.b.engine.create_pd();
        sges = story.b.buffer(8, access_all, *foreign).all();
    }
    story.b.post(receive(7, sges));
    story.a.post(send(1, from.all()));
    story.run();
    CHECK(story.log() == lines(R"(
        A>B SEND_ONLY psn=+0
        B>A NAK_REMOTE_OPERATIONAL psn=+0 msn=0
    )"));
    CHECK(story.a.sent() == "wr=1 REM_OP_ERR\n");
    CHECK(story.b.received() == "wr=7 LOC_PROT_ERR\n");
    CHECK(story.a.counters().req_remote_operation_errors == 1);
}

}  // namespace rocem::test
