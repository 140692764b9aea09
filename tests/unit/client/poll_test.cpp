#include <catch2/catch.hpp>
#include <cerrno>

#include "rig.hpp"

namespace rocem::test {
namespace {

TEST_CASE("rocem_poll_cq__delivers_in_order_with_every_field") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    REQUIRE(rig.post_send(0) == 0);
    REQUIRE(rig.post_recv(0) == 0);
    ipc::Cqe recv = rig.daemon.completion(0, 0, ROCEM_WC_RECV_RDMA_WITH_IMM);
    recv.byte_len = 100;
    recv.immediate = 0xabcd;
    recv.flags = ROCEM_ABI_CQE_WITH_IMMEDIATE;
    ipc::Cqe send = rig.daemon.completion(0, 0, ROCEM_WC_SEND, ROCEM_WC_RETRY_EXC_ERR);
    send.wr_id = 7;
    REQUIRE(rig.daemon.complete(0, recv));
    REQUIRE(rig.daemon.complete(0, send));
    rocem_wc wc{};
    REQUIRE(rocem_poll_cq(rig.cq, 1, &wc) == 1);
    CHECK(wc.wr_id == 1000);
    CHECK(wc.status == ROCEM_WC_SUCCESS);
    CHECK(wc.opcode == ROCEM_WC_RECV_RDMA_WITH_IMM);
    CHECK(wc.byte_len == 100);
    CHECK(wc.immediate == 0xabcd);
    CHECK(wc.wc_flags == ROCEM_WC_WITH_IMM);
    CHECK(wc.qp_num == rig.qp->qp_num);
    REQUIRE(rocem_poll_cq(rig.cq, 10, &wc) == 1);
    CHECK(wc.wr_id == 7);
    CHECK(wc.status == ROCEM_WC_RETRY_EXC_ERR);
    CHECK(wc.wc_flags == 0);
    CHECK(rocem_poll_cq(rig.cq, 10, &wc) == 0);
    CHECK(rocem_poll_cq(rig.cq, 0, &wc) == 0);
    CHECK(rocem_poll_cq(rig.cq, -1, &wc) == -EINVAL);
}

TEST_CASE("rocem_poll_cq__gives_the_slots_back") {
    Rig rig({.cqe = 4});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    for (std::uint32_t round = 0; round < 10; ++round) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            REQUIRE(rig.post_send(0) == 0);
            REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, round * 4 + i, ROCEM_WC_SEND)));
        }
        CHECK_FALSE(rig.daemon.complete(0, rig.daemon.completion(0, 0, ROCEM_WC_SEND)));
        CHECK(rig.poll().size() == 4);
    }
}

TEST_CASE("rocem_poll_cq__drops_what_is_of_a_dead_qp") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rocem_qp_init_attr init{};
    init.qp_type = ROCEM_QPT_RC;
    init.send_cq = init.recv_cq = rig.cq;
    init.cap = {4, 4, 1, 1, 0};
    rocem_qp* doomed = rocem_create_qp(rig.pd, &init);
    REQUIRE(doomed != nullptr);
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(1, 0, ROCEM_WC_RECV)));
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, 0, ROCEM_WC_RECV)));
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(1, 1, ROCEM_WC_RECV)));
    REQUIRE(rocem_destroy_qp(doomed) == 0);
    const auto completions = rig.poll();
    REQUIRE(completions.size() == 1);
    CHECK(completions[0].qp_num == 0x100);

    // The slot's next tenant does not get its predecessor's completions.
    rocem_qp* next = rocem_create_qp(rig.pd, &init);
    REQUIRE(next != nullptr);
    ipc::Cqe stale = rig.daemon.completion(1, 0, ROCEM_WC_RECV);
    --stale.qp_epoch;
    REQUIRE(rig.daemon.complete(0, stale));
    CHECK(rig.poll().empty());
    REQUIRE(rocem_destroy_qp(next) == 0);
}

TEST_CASE("rocem_poll_cq__drops_what_is_older_than_a_reset") {
    Rig rig({.max_send_wr = 2});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    REQUIRE(rig.post_send(0) == 0);
    REQUIRE(rig.post_send(1) == 0);
    const ipc::Cqe old = rig.daemon.completion(0, 0, ROCEM_WC_SEND);
    REQUIRE(rig.daemon.complete(0, old));
    REQUIRE(rig.move_to(ROCEM_QPS_RESET) == 0);
    CHECK(rig.poll().empty());
    CHECK(rig.post_send(2) == EINVAL);
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    // Both rings are empty again, and go on where they were.
    CHECK(rig.post_send(2) == 0);
    CHECK(rig.post_send(3) == 0);
    CHECK(rig.post_send(4) == ENOMEM);
    const auto taken = rig.daemon.take_sends(0);
    REQUIRE(taken.size() == 2);
    CHECK(taken[0].index == 2);
    CHECK(taken[0].wqe.wr_id == 2);
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, 2, ROCEM_WC_SEND)));
    CHECK(rig.poll().size() == 1);
}

TEST_CASE("rocem_modify_qp__a_reset_that_is_refused_changes_nothing") {
    Rig rig;
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rig.daemon.set_hook([](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
        if (header.type != ROCEM_ABI_MODIFY_QP) return false;
        self.refuse(socket, request, EINVAL, "mask: no");
        return true;
    });
    CHECK(rig.move_to(ROCEM_QPS_RESET) == EINVAL);
    CHECK(last_error() == "rocem_modify_qp: mask: no");
    CHECK(rig.post_send(0) == 0);
}

TEST_CASE("rocem_poll_cq__a_producer_index_outside_the_ring_is_a_broken_daemon") {
    Rig rig;
    rig.daemon.cq_head(0).ring.producer = 1000;
    rocem_wc wc{};
    CHECK(rocem_poll_cq(rig.cq, 1, &wc) == -EIO);
    CHECK(rig.post_recv(0) == EIO);
}

TEST_CASE("rocem_poll_cq__a_cqe_of_nonsense_is_dropped") {
    Rig rig;
    ipc::Cqe cqe{};
    cqe.qp_slot = 0xffffffff;
    cqe.qp_epoch = 1;
    REQUIRE(rig.daemon.complete(0, cqe));
    cqe.qp_slot = 16383;
    REQUIRE(rig.daemon.complete(0, cqe));
    cqe = rig.daemon.completion(0, 0, 0);
    cqe.qp_epoch = 0;
    REQUIRE(rig.daemon.complete(0, cqe));
    CHECK(rig.poll().empty());
}

}  // namespace
}  // namespace rocem::test
