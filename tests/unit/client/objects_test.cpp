#include <catch2/catch.hpp>
#include <cerrno>

#include "client/raw_enum.hpp"
#include "rig.hpp"

namespace rocem::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("rocem_reg_mr__takes_any_part_of_allocated_memory") {
    Rig rig;
    auto* memory = static_cast<std::byte*>(rocem_alloc(rig.context, 10'000));
    REQUIRE(memory != nullptr);
    CHECK(memory[9'999] == std::byte{0});
    rocem_mr* all = rocem_reg_mr(rig.pd, memory, 10'000, ROCEM_ACCESS_LOCAL_WRITE);
    rocem_mr* part = rocem_reg_mr(rig.pd, memory + 5'000, 5'000, 0);
    REQUIRE(all != nullptr);
    REQUIRE(part != nullptr);
    CHECK(part->addr == memory + 5'000);
    CHECK(part->length == 5'000);
    CHECK(part->lkey == part->rkey);
    CHECK(all->lkey != part->lkey);

    CHECK(rocem_free(rig.context, memory) == EBUSY);
    CHECK(rocem_dealloc_pd(rig.pd) == EBUSY);
    CHECK(rocem_dereg_mr(all) == 0);
    CHECK(rocem_free(rig.context, memory) == EBUSY);
    CHECK(rocem_dereg_mr(part) == 0);
    CHECK(rocem_free(rig.context, memory + 1) == EINVAL);
    CHECK(rocem_free(rig.context, memory) == 0);
}

TEST_CASE("rocem_reg_mr__other_memory_is_refused_in_words") {
    Rig rig;
    auto* memory = static_cast<std::byte*>(rocem_alloc(rig.context, 4096));
    REQUIRE(memory != nullptr);
    char own[64] = {};
    CHECK(rocem_reg_mr(rig.pd, own, sizeof(own), 0) == nullptr);
    CHECK(errno == EOPNOTSUPP);
    CHECK_THAT(last_error(), Contains("rocem_alloc"));
    CHECK(rocem_reg_mr(rig.pd, memory, 4097, 0) == nullptr);
    CHECK(errno == EOPNOTSUPP);
    CHECK(rocem_reg_mr(rig.pd, memory - 1, 10, 0) == nullptr);
    CHECK(rocem_reg_mr(rig.pd, memory + 4000, ~std::size_t{0}, 0) == nullptr);
    CHECK(rocem_free(rig.context, memory) == 0);
    CHECK(rocem_alloc(rig.context, 0) == nullptr);
    CHECK(errno == EINVAL);
}

TEST_CASE("objects__in_use_are_busy") {
    Rig rig({.channel = true});
    CHECK(rocem_destroy_comp_channel(rig.channel) == EBUSY);
    CHECK(rocem_destroy_cq(rig.cq) == EBUSY);
    CHECK(rocem_dealloc_pd(rig.pd) == EBUSY);
    CHECK(rocem_close(rig.context) == EBUSY);
    CHECK_THAT(last_error(), Contains("rocem_close"));
}

TEST_CASE("rocem_create_qp__wants_cqs_and_passes_the_daemons_refusal_on") {
    Rig rig;
    rocem_qp_init_attr init{};
    init.qp_type = ROCEM_QPT_RC;
    CHECK(rocem_create_qp(rig.pd, &init) == nullptr);
    CHECK(errno == EINVAL);
    CHECK_THAT(last_error(), Contains("send_cq"));
    init.send_cq = rig.cq;
    CHECK(rocem_create_qp(rig.pd, &init) == nullptr);
    CHECK_THAT(last_error(), Contains("recv_cq"));
    init.recv_cq = rig.cq;
    client::set_raw_value(init.qp_type, 77);
    rig.daemon.set_hook([](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
        if (header.type != ROCEM_ABI_CREATE_QP) return false;
        const auto create = ipc::read_message<rocem_abi_create_qp_request>(request.bytes());
        CHECK(create.qp_type == 77);
        self.refuse(socket, request, EINVAL, "qp_type: 77 is not supported");
        return true;
    });
    CHECK(rocem_create_qp(rig.pd, &init) == nullptr);
    CHECK(errno == EINVAL);
    CHECK(last_error() == "rocem_create_qp: qp_type: 77 is not supported");
}

TEST_CASE("rocem_create_qp__an_answer_whose_rings_do_not_fit_is_refused") {
    Rig rig;
    rig.daemon.set_hook([](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
        if (header.type != ROCEM_ABI_CREATE_QP) return false;
        const ipc::SharedRegion region = ipc::make_region("small", 4096);
        auto reply = ipc::make_reply<rocem_abi_create_qp_reply>(header);
        reply.qp_slot = 5;
        reply.qp_epoch = 1;
        reply.caps.max_send_wr = 1000;
        reply.segment = {99, 0, 4096, 0, 4096};
        self.answer(socket, reply, std::array{region.fd.get()});
        return true;
    });
    rocem_qp_init_attr init{};
    init.qp_type = ROCEM_QPT_RC;
    init.send_cq = rig.cq;
    init.recv_cq = rig.cq;
    CHECK(rocem_create_qp(rig.pd, &init) == nullptr);
    CHECK(errno == EPROTO);
}

TEST_CASE("rocem_modify_qp__carries_every_attribute") {
    Rig rig;
    rocem_qp_attr attr{};
    attr.qp_state = ROCEM_QPS_RTR;
    attr.path_mtu = ROCEM_MTU_2048;
    attr.rq_psn = 0xabcdef;
    attr.sq_psn = 0x123456;
    attr.dest_qp_num = 0x77;
    attr.qp_access_flags = 0xf;
    attr.ah_attr.grh.dgid.raw[0] = 0xfd;
    attr.ah_attr.grh.flow_label = 0xfffff;
    attr.ah_attr.grh.sgid_index = 2;
    attr.ah_attr.grh.hop_limit = 9;
    attr.ah_attr.grh.traffic_class = 0xc0;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.sl = 3;
    attr.pkey_index = 1;
    attr.max_rd_atomic = 4;
    attr.max_dest_rd_atomic = 5;
    attr.min_rnr_timer = 6;
    attr.port_num = 1;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 8;  // the daemon's to refuse
    REQUIRE(rocem_modify_qp(rig.qp, &attr, 0x1fffff) == 0);
    const rocem_abi_modify_qp_request sent = rig.daemon.last_modify();
    CHECK(sent.mask == 0x1fffff);
    CHECK(sent.attributes.state == 2);
    CHECK(sent.attributes.path_mtu == 4);
    CHECK(sent.attributes.rq_psn == 0xabcdef);
    CHECK(sent.attributes.sq_psn == 0x123456);
    CHECK(sent.attributes.dest_qpn == 0x77);
    CHECK(sent.attributes.access_flags == 0xf);
    CHECK(sent.attributes.av.dgid[0] == 0xfd);
    CHECK(sent.attributes.av.flow_label == 0xfffff);
    CHECK(sent.attributes.av.sgid_index == 2);
    CHECK(sent.attributes.av.hop_limit == 9);
    CHECK(sent.attributes.av.traffic_class == 0xc0);
    CHECK(sent.attributes.av.is_global == 1);
    CHECK(sent.attributes.av.sl == 3);
    CHECK(sent.attributes.pkey_index == 1);
    CHECK(sent.attributes.max_rd_atomic == 4);
    CHECK(sent.attributes.max_dest_rd_atomic == 5);
    CHECK(sent.attributes.min_rnr_timer == 6);
    CHECK(sent.attributes.port_num == 1);
    CHECK(sent.attributes.timeout == 14);
    CHECK(sent.attributes.retry_cnt == 7);
    CHECK(sent.attributes.rnr_retry == 8);

    rocem_qp_attr queried{};
    rocem_qp_init_attr init{};
    REQUIRE(rocem_query_qp(rig.qp, &queried, &init) == 0);
    CHECK(queried.rq_psn == 0xabcdef);
    CHECK(queried.path_mtu == ROCEM_MTU_2048);
    CHECK(queried.ah_attr.grh.flow_label == 0xfffff);
    CHECK(init.cap.max_send_wr == 4);
    CHECK(init.send_cq == rig.cq);
}

TEST_CASE("rocem_modify_qp__values_that_a_message_cannot_carry") {
    Rig rig;
    rocem_qp_attr attr{};
    client::set_raw_value(attr.qp_state, 256);
    CHECK(rocem_modify_qp(rig.qp, &attr, ROCEM_QP_STATE) == EINVAL);
    CHECK_THAT(last_error(), Contains("qp_state: 256"));
    client::set_raw_value(attr.path_mtu, 1024);
    CHECK(rocem_modify_qp(rig.qp, &attr, ROCEM_QP_PATH_MTU) == EINVAL);
    CHECK_THAT(last_error(), Contains("path_mtu: 1024"));
}

}  // namespace
}  // namespace rocem::test
