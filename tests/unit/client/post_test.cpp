#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "client/raw_enum.hpp"
#include "rig.hpp"

namespace rocem::test {
namespace {

using Catch::Matchers::Contains;

struct Chain {
    explicit Chain(std::size_t count) : wrs(count) {
        for (std::size_t i = 0; i < count; ++i) {
            wrs[i].wr_id = i;
            wrs[i].opcode = ROCEM_WR_SEND;
            wrs[i].send_flags = ROCEM_SEND_SIGNALED;
            if (i + 1 < count) wrs[i].next = &wrs[i + 1];
        }
    }
    std::vector<rocem_send_wr> wrs;
};

TEST_CASE("rocem_post_send__a_chain_of_17_on_a_queue_of_16") {
    Rig rig({.max_send_wr = 16});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    Chain chain(17);
    rocem_send_wr* bad = nullptr;
    CHECK(rocem_post_send(rig.qp, chain.wrs.data(), &bad) == ENOMEM);
    CHECK(bad == &chain.wrs[16]);
    const auto taken = rig.daemon.take_sends(0);
    REQUIRE(taken.size() == 16);
    CHECK(taken[15].wqe.wr_id == 15);
    CHECK(rig.daemon.is_marked(true, 0));
}

TEST_CASE("rocem_post_send__what_the_daemon_reads_is_what_was_posted") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rocem_sge sges[2] = {{0x1000, 10, 5}, {0x2000, 20, 6}};
    rocem_send_wr wr{};
    wr.wr_id = 0x0102030405060708;
    wr.sg_list = sges;
    wr.num_sge = 2;
    wr.opcode = ROCEM_WR_RDMA_WRITE_WITH_IMM;
    wr.send_flags = ROCEM_SEND_SIGNALED | ROCEM_SEND_FENCE;
    wr.immediate = 0xdeadbeef;
    wr.rkey = 77;
    wr.remote_addr = 0xffff0000;
    wr.compare_add = 3;
    wr.swap = 4;
    REQUIRE(rocem_post_send(rig.qp, &wr, nullptr) == 0);
    const auto taken = rig.daemon.take_sends(0);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].wqe.wr_id == 0x0102030405060708);
    CHECK(taken[0].wqe.opcode == 1);
    CHECK(taken[0].wqe.flags == 3);
    CHECK(taken[0].wqe.immediate == 0xdeadbeef);
    CHECK(taken[0].wqe.rkey == 77);
    CHECK(taken[0].wqe.remote_addr == 0xffff0000);
    CHECK(taken[0].wqe.compare_add == 3);
    CHECK(taken[0].wqe.swap == 4);
    REQUIRE(taken[0].sges.size() == 2);
    CHECK(taken[0].sges[1].addr == 0x2000);
    CHECK(taken[0].sges[1].length == 20);
    CHECK(taken[0].sges[1].lkey == 6);
}

TEST_CASE("rocem_post_send__inline_bytes_are_gathered_at_once") {
    Rig rig({.max_inline_data = 32});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    char first[20];
    char second[13];
    std::memset(first, 'a', sizeof(first));
    std::memset(second, 'b', sizeof(second));
    rocem_sge sges[2] = {{reinterpret_cast<std::uintptr_t>(first), 20, 0},
                         {reinterpret_cast<std::uintptr_t>(second), 12, 0}};
    rocem_send_wr wr{};
    wr.sg_list = sges;
    wr.num_sge = 2;
    wr.opcode = ROCEM_WR_SEND;
    wr.send_flags = ROCEM_SEND_INLINE;
    REQUIRE(rocem_post_send(rig.qp, &wr, nullptr) == 0);
    std::memset(first, 'x', sizeof(first));
    const auto taken = rig.daemon.take_sends(0);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].inline_bytes == std::string(20, 'a') + std::string(12, 'b'));
    CHECK(taken[0].wqe.num_sge == 0);

    sges[1].length = 13;
    rocem_send_wr* bad = nullptr;
    CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
    CHECK(bad == &wr);
    CHECK_THAT(last_error(), Contains("33 bytes inline, the QP takes 32"));
    wr.num_sge = 1;
    wr.opcode = ROCEM_WR_RDMA_READ;
    CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
}

TEST_CASE("rocem_post_send__what_is_refused_with_EINVAL") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rocem_sge sges[3] = {{0, 0xffffffff, 0}, {0, 5, 0}, {0, 0, 0}};
    rocem_send_wr wr{};
    wr.sg_list = sges;
    rocem_send_wr* bad = nullptr;
    SECTION("one SGE more than the queue takes") {
        wr.num_sge = 3;
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
        CHECK_THAT(last_error(), Contains("num_sge: 3"));
    }
    SECTION("a negative number of SGEs") {
        wr.num_sge = -1;
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
    }
    SECTION("SGEs that sum to 2^32 + 4") {
        wr.num_sge = 2;
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
        CHECK_THAT(last_error(), Contains("4294967300 bytes"));
    }
    SECTION("one byte above max_msg_size") {
        sges[0].length = 0x80000001;
        wr.num_sge = 1;
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
    }
    SECTION("an opcode that is none") {
        client::set_raw_value(wr.opcode, 7);
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
        CHECK_THAT(last_error(), Contains("opcode: 7"));
    }
    SECTION("unknown flags") {
        wr.send_flags = 0x10;
        CHECK(rocem_post_send(rig.qp, &wr, &bad) == EINVAL);
    }
    CHECK(bad == &wr);
    CHECK(rig.daemon.take_sends(0).empty());
    CHECK_FALSE(rig.daemon.is_marked(true, 0));
}

TEST_CASE("rocem_post_send__max_msg_size_itself_passes") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rocem_sge sge{0, 0x80000000, 0};
    rocem_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    CHECK(rocem_post_send(rig.qp, &wr, nullptr) == 0);
}

TEST_CASE("post__which_states_take_what") {
    struct Case {
        rocem_qp_state state;
        int send;
        int recv;
    };
    // rocev2 5.10: receives from INIT on; sends from RTS on; in ERR both are accepted and flushed.
    const std::vector<Case> cases = {
        {ROCEM_QPS_RESET, EINVAL, EINVAL},
        {ROCEM_QPS_INIT, EINVAL, 0},
        {ROCEM_QPS_RTR, EINVAL, 0},
        {ROCEM_QPS_RTS, 0, 0},
        {ROCEM_QPS_SQD, 0, 0},
        {ROCEM_QPS_SQE, 0, 0},
        {ROCEM_QPS_ERR, 0, 0},
    };
    for (const Case& c : cases) {
        CAPTURE(c.state);
        Rig rig;
        if (c.state != ROCEM_QPS_RESET) REQUIRE(rig.move_to(c.state) == 0);
        rocem_send_wr send{};
        rocem_send_wr* bad_send = nullptr;
        CHECK(rocem_post_send(rig.qp, &send, &bad_send) == c.send);
        CHECK(bad_send == (c.send == 0 ? nullptr : &send));
        rocem_recv_wr recv{};
        rocem_recv_wr* bad_recv = nullptr;
        CHECK(rocem_post_recv(rig.qp, &recv, &bad_recv) == c.recv);
        CHECK(bad_recv == (c.recv == 0 ? nullptr : &recv));
    }
}

TEST_CASE("rocem_post_recv__exactly_max_recv_wr") {
    Rig rig({.max_recv_wr = 5});  // of 8 slots
    REQUIRE(rig.move_to(ROCEM_QPS_INIT) == 0);
    for (int i = 0; i < 5; ++i)
        REQUIRE(rig.post_recv(i) == 0);
    CHECK(rig.post_recv(5) == ENOMEM);
    CHECK(rig.daemon.take_recvs(0).size() == 5);
    // That the daemon has read them frees nothing: a completion does.
    CHECK(rig.post_recv(5) == ENOMEM);
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, 0, ROCEM_WC_RECV)));
    CHECK(rig.post_recv(5) == ENOMEM);
    CHECK(rig.poll().size() == 1);
    CHECK(rig.post_recv(5) == 0);
    CHECK(rig.post_recv(6) == ENOMEM);

    rocem_sge sges[3] = {};
    rocem_recv_wr wr{};
    wr.sg_list = sges;
    wr.num_sge = 3;
    rocem_recv_wr* bad = nullptr;
    CHECK(rocem_post_recv(rig.qp, &wr, &bad) == EINVAL);
    CHECK(bad == &wr);
}

TEST_CASE("rocem_post_send__a_completion_frees_all_requests_before_it") {
    Rig rig({.max_send_wr = 4});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    for (int i = 0; i < 3; ++i)
        REQUIRE(rig.post_send(i, 0) == 0);
    REQUIRE(rig.post_send(3) == 0);
    CHECK(rig.post_send(4) == ENOMEM);
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, 3, ROCEM_WC_SEND)));
    REQUIRE(rig.poll().size() == 1);
    for (int i = 4; i < 8; ++i)
        CHECK(rig.post_send(i) == 0);
    CHECK(rig.post_send(8) == ENOMEM);
}

TEST_CASE("post__a_queue_of_nothing_takes_nothing") {
    Rig rig({.max_send_wr = 0, .max_recv_wr = 0});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    CHECK(rig.post_send(0) == ENOMEM);
    CHECK(rig.post_recv(0) == ENOMEM);
}

TEST_CASE("post__rings_the_doorbell_only_when_the_worker_sleeps") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    REQUIRE(rig.post_send(0) == 0);
    REQUIRE(rig.post_recv(0) == 0);
    CHECK(rig.daemon.doorbell_rings() == 0);
    rig.daemon.set_sleeping(true);
    REQUIRE(rig.post_send(1) == 0);
    REQUIRE(rig.post_recv(1) == 0);
    CHECK(rig.daemon.doorbell_rings() == 2);
    rig.daemon.set_sleeping(false);
    REQUIRE(rig.post_send(2) == 0);
    CHECK(rig.daemon.doorbell_rings() == 0);
}

TEST_CASE("rocem_modify_qp__tells_how_far_the_rings_were_filled") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    for (int i = 0; i < 3; ++i)
        REQUIRE(rig.post_send(i) == 0);
    REQUIRE(rig.post_recv(0) == 0);
    REQUIRE(rig.move_to(ROCEM_QPS_ERR) == 0);
    CHECK(rig.daemon.last_modify().send_producer == 3);
    CHECK(rig.daemon.last_modify().recv_producer == 1);
}

}  // namespace
}  // namespace rocem::test
