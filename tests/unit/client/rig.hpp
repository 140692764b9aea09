// A client of a FakeDaemon with one of everything.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "client/rocem.h"
#include "fake_daemon.hpp"

namespace rocem::test {

struct RigOptions {
    std::uint32_t max_send_wr = 4;
    std::uint32_t max_recv_wr = 4;
    std::uint32_t max_sge = 2;
    std::uint32_t max_inline_data = 32;
    std::uint32_t cqe = 16;
    bool channel = false;
};

class Rig {
 public:
    explicit Rig(const RigOptions& options = RigOptions()) {
        context = rocem_open(daemon.path().c_str(), nullptr);
        REQUIRE(context != nullptr);
        pd = rocem_alloc_pd(context);
        REQUIRE(pd != nullptr);
        if (options.channel) channel = rocem_create_comp_channel(context);
        cq = rocem_create_cq(context, options.cqe, this, channel, 0);
        REQUIRE(cq != nullptr);
        rocem_qp_init_attr init{};
        init.send_cq = cq;
        init.recv_cq = cq;
        init.qp_type = ROCEM_QPT_RC;
        init.cap = {options.max_send_wr, options.max_recv_wr, options.max_sge, options.max_sge,
                    options.max_inline_data};
        qp = rocem_create_qp(pd, &init);
        REQUIRE(qp != nullptr);
    }
    ~Rig() {
        if (qp != nullptr) rocem_destroy_qp(qp);
        if (cq != nullptr) rocem_destroy_cq(cq);
        if (channel != nullptr) rocem_destroy_comp_channel(channel);
        if (pd != nullptr) rocem_dealloc_pd(pd);
        CHECK(rocem_close(context) == 0);
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    int move_to(rocem_qp_state state) {
        rocem_qp_attr attr{};
        attr.qp_state = state;
        return rocem_modify_qp(qp, &attr, ROCEM_QP_STATE);
    }

    int post_send(std::uint64_t wr_id, std::uint32_t flags = ROCEM_SEND_SIGNALED) {
        rocem_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = ROCEM_WR_SEND;
        wr.send_flags = flags;
        return rocem_post_send(qp, &wr, nullptr);
    }

    int post_recv(std::uint64_t wr_id) {
        rocem_recv_wr wr{};
        wr.wr_id = wr_id;
        return rocem_post_recv(qp, &wr, nullptr);
    }

    // As many completions as there are, at most 64.
    std::vector<rocem_wc> poll() {
        std::vector<rocem_wc> completions(64);
        const int count = rocem_poll_cq(cq, 64, completions.data());
        REQUIRE(count >= 0);
        completions.resize(static_cast<std::size_t>(count));
        return completions;
    }

    FakeDaemon daemon;
    rocem_context* context = nullptr;
    rocem_pd* pd = nullptr;
    rocem_comp_channel* channel = nullptr;
    rocem_cq* cq = nullptr;
    rocem_qp* qp = nullptr;
};

inline std::string last_error() {
    return rocem_last_error();
}

}  // namespace rocem::test
