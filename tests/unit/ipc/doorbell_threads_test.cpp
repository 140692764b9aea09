// The need-wakeup rule and the arm rule, with a thread on each side: a lost wake-up would hang the test.
#include <poll.h>
#include <sys/epoll.h>

#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "ipc/doorbell.hpp"
#include "ring_support.hpp"

namespace rocem::test {
namespace {

TEST_CASE("need_wakeup__a_worker_that_sleeps_is_woken_for_each_post") {
    constexpr std::uint32_t posts = 20'000;
    auto bitmap = std::make_unique<ipc::Bitmap>();
    ipc::WorkerPage page{};
    const ipc::UniqueFd doorbell = ipc::make_doorbell();
    const ipc::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    REQUIRE(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, doorbell.get(), &event) == 0);
    std::atomic<std::uint32_t> posted{0};
    std::atomic<std::uint32_t> handled{0};

    std::thread client([&] {
        for (std::uint32_t i = 1; i <= posts; ++i) {
            posted.store(i, std::memory_order_release);
            ipc::mark(*bitmap, 77);
            if (ipc::needs_wakeup(page)) ipc::ring_doorbell(doorbell.get());
            // The next post only after this one was handled: each finds a worker that sleeps or is about to.
            while (handled.load(std::memory_order_acquire) < i)
                std::this_thread::yield();
        }
    });
    std::uint32_t sleeps = 0;
    while (handled.load(std::memory_order_relaxed) < posts) {
        ipc::take_marked(*bitmap, [&](std::uint32_t) {
            handled.store(posted.load(std::memory_order_acquire), std::memory_order_release);
        });
        if (handled.load(std::memory_order_relaxed) == posts) break;
        ipc::announce_sleep(page);
        if (!ipc::any_marked(*bitmap)) {
            ++sleeps;
            epoll_event woken{};
            ::epoll_wait(epoll.get(), &woken, 1, -1);
        }
        ipc::announce_awake(page);
    }
    client.join();
    CHECK(handled.load() == posts);
    CHECK(sleeps > 0);
}

TEST_CASE("arm__a_client_that_sleeps_for_completions_gets_every_one") {
    constexpr std::uint32_t completions = 20'000;
    TestRing ring(64, 64, 0);
    ipc::CqHead head{};
    auto missed = std::make_unique<ipc::Bitmap>();
    const ipc::SocketPair sockets = ipc::make_event_sockets();
    std::atomic<std::uint32_t> consumed{0};

    std::thread worker([&] {
        for (std::uint32_t i = 0; i < completions; ++i) {
            while (i - consumed.load(std::memory_order_acquire) >= 1)
                std::this_thread::yield();
            ring.write(0, i);
            ring.producer.publish(1, std::memory_order_seq_cst);
            if (ipc::take_arm(head, false)) ipc::send_cq_event(sockets.daemon_end.get(), *missed, {3, 1});
        }
    });
    std::uint32_t got = 0;
    const auto poll_all = [&] {
        std::uint32_t here = 0;
        while (ring.consumer.available(std::memory_order_seq_cst).value_or(0) > 0) {
            if (ring.read().number != got + here) break;
            ++here;
        }
        if (here > 0) ring.consumer.give_back();
        got += here;
        consumed.store(got, std::memory_order_release);
        return here;
    };
    while (got < completions) {
        if (poll_all() > 0) continue;
        ipc::arm_cq(head, ROCEM_ABI_ARM_ANY);
        if (poll_all() > 0) continue;
        rocem_abi_cq_event event{};
        if (ipc::receive_event(sockets.client_end.get(), &event, sizeof(event)) != ipc::Received::event)
            break;
    }
    worker.join();
    CHECK(got == completions);
}

}  // namespace
}  // namespace rocem::test
