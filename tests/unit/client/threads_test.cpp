// Many threads on one context: posts, polls, and a worker that completes what it reads.
#include <catch2/catch.hpp>
#include <thread>

#include "rig.hpp"

namespace rocem::test {
namespace {

TEST_CASE("threads__each_request_completes_once") {
    constexpr int posters = 2;
    constexpr int pollers = 2;
    constexpr std::uint32_t per_poster = 3'000;
    constexpr std::uint32_t total = posters * per_poster;
    Rig rig({.max_send_wr = 8, .cqe = 8});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    std::vector<std::atomic<std::uint32_t>> completed(total);
    std::atomic<std::uint32_t> polled{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < posters; ++p) {
        threads.emplace_back([&, p] {
            for (std::uint32_t i = 0; i < per_poster; ++i) {
                while (rig.post_send(p * per_poster + i) != 0)
                    std::this_thread::yield();
            }
        });
    }
    for (int p = 0; p < pollers; ++p) {
        threads.emplace_back([&] {
            while (polled.load() < total) {
                rocem_wc wc[4] = {};
                const int count = rocem_poll_cq(rig.cq, 4, wc);
                for (int i = 0; i < count; ++i)
                    ++completed.at(wc[i].wr_id);
                if (count > 0) polled += static_cast<std::uint32_t>(count);
                if (count == 0) std::this_thread::yield();
            }
        });
    }
    std::uint32_t done = 0;
    while (done < total) {
        for (const TakenSend& send : rig.daemon.take_sends(0)) {
            ipc::Cqe cqe = rig.daemon.completion(0, send.index, ROCEM_WC_SEND);
            cqe.wr_id = send.wqe.wr_id;
            while (!rig.daemon.complete(0, cqe))
                std::this_thread::yield();
            ++done;
        }
        std::this_thread::yield();
    }
    for (std::thread& thread : threads)
        thread.join();
    std::uint32_t once = 0;
    for (const auto& count : completed)
        once += count.load() == 1;
    CHECK(once == total);
}

TEST_CASE("threads__commands_from_many_threads_get_their_own_answers") {
    Rig rig;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                rocem_pd* pd = rocem_alloc_pd(rig.context);
                rocem_gid gid{};
                if (pd == nullptr || rocem_query_gid(rig.context, 1, 0, &gid) != 0 || gid.raw[15] != 9)
                    ++wrong;
                if (pd != nullptr && rocem_dealloc_pd(pd) != 0) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wrong.load() == 0);
}

TEST_CASE("threads__qps_come_and_go_while_their_cq_is_polled") {
    Rig rig({.cqe = 64});
    std::atomic<bool> stop{false};
    std::thread poller([&] {
        rocem_wc wc[8] = {};
        while (!stop.load()) {
            if (rocem_poll_cq(rig.cq, 8, wc) <= 0) std::this_thread::yield();
        }
    });
    for (int i = 0; i < 100; ++i) {
        rocem_qp_init_attr init{};
        init.qp_type = ROCEM_QPT_RC;
        init.send_cq = init.recv_cq = rig.cq;
        init.cap = {4, 4, 1, 1, 0};
        rocem_qp* qp = rocem_create_qp(rig.pd, &init);
        REQUIRE(qp != nullptr);
        const ipc::Cqe cqe = rig.daemon.completion(1, 0, ROCEM_WC_RECV);
        rig.daemon.complete(0, cqe);
        REQUIRE(rocem_destroy_qp(qp) == 0);
        rig.daemon.complete(0, cqe);
    }
    stop = true;
    poller.join();
}

}  // namespace
}  // namespace rocem::test
