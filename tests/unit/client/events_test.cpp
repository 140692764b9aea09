#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <thread>

#include "rig.hpp"

namespace rocem::test {
namespace {

bool readable(int fd) {
    pollfd watched{fd, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

rocem_cq* next_event(rocem_comp_channel* channel) {
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    return rocem_get_cq_event(channel, &cq, &cq_context) == 0 ? cq : nullptr;
}

TEST_CASE("rocem_req_notify_cq__one_event_for_one_arm") {
    Rig rig({.channel = true});
    const ipc::Cqe cqe = rig.daemon.completion(0, 0, ROCEM_WC_RECV);
    REQUIRE(rig.daemon.complete(0, cqe));
    CHECK_FALSE(readable(rig.channel->fd));  // not armed
    REQUIRE(rocem_req_notify_cq(rig.cq, 0) == 0);
    REQUIRE(rig.daemon.complete(0, cqe));
    REQUIRE(rig.daemon.complete(0, cqe));
    REQUIRE(readable(rig.channel->fd));
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    REQUIRE(rocem_get_cq_event(rig.channel, &cq, &cq_context) == 0);
    CHECK(cq == rig.cq);
    CHECK(cq_context == &rig);
    CHECK_FALSE(readable(rig.channel->fd));
    rocem_ack_cq_events(rig.cq, 1);
}

TEST_CASE("rocem_req_notify_cq__solicited_only") {
    Rig rig({.channel = true});
    const ipc::Cqe cqe = rig.daemon.completion(0, 0, ROCEM_WC_RECV);
    REQUIRE(rocem_req_notify_cq(rig.cq, 1) == 0);
    REQUIRE(rig.daemon.complete(0, cqe, false));
    CHECK_FALSE(readable(rig.channel->fd));
    REQUIRE(rig.daemon.complete(0, cqe, true));
    CHECK(next_event(rig.channel) == rig.cq);
    rocem_ack_cq_events(rig.cq, 1);
}

TEST_CASE("rocem_req_notify_cq__wants_a_channel") {
    Rig rig;
    CHECK(rocem_req_notify_cq(rig.cq, 0) == EINVAL);
}

TEST_CASE("rocem_get_cq_event__honours_O_NONBLOCK") {
    Rig rig({.channel = true});
    ::fcntl(rig.channel->fd, F_SETFL, O_NONBLOCK);
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    CHECK(rocem_get_cq_event(rig.channel, &cq, &cq_context) == EAGAIN);
    ::fcntl(rig.context->async_fd, F_SETFL, O_NONBLOCK);
    rocem_async_event event{};
    CHECK(rocem_get_async_event(rig.context, &event) == EAGAIN);
}

TEST_CASE("rocem_get_cq_event__a_signal_interrupts_it") {
    Rig rig({.channel = true});
    struct sigaction action {};
    action.sa_handler = [](int) {};
    struct sigaction before {};
    ::sigaction(SIGUSR1, &action, &before);  // without SA_RESTART
    std::atomic<int> result{-1};
    std::thread waiter([&] {
        rocem_cq* cq = nullptr;
        void* cq_context = nullptr;
        result = rocem_get_cq_event(rig.channel, &cq, &cq_context);
    });
    // Signals that come before the wait are lost, so one is not enough.
    while (result.load() == -1) {
        ::pthread_kill(waiter.native_handle(), SIGUSR1);
        std::this_thread::yield();
    }
    waiter.join();
    ::sigaction(SIGUSR1, &before, nullptr);
    CHECK(result.load() == EINTR);
}

TEST_CASE("rocem_get_cq_event__events_that_found_the_socket_full_are_not_lost") {
    Rig rig({.channel = true});
    rocem_comp_channel* other_channel = rocem_create_comp_channel(rig.context);
    REQUIRE(other_channel != nullptr);
    rocem_cq* late = rocem_create_cq(rig.context, 4, nullptr, rig.channel, 0);
    rocem_cq* elsewhere = rocem_create_cq(rig.context, 4, nullptr, other_channel, 0);
    REQUIRE(late != nullptr);
    REQUIRE(elsewhere != nullptr);
    // More than any socket's buffer takes.
    for (int i = 0; i < 2000; ++i)
        rig.daemon.send_cq_event(0);
    for (int i = 0; i < 3; ++i)
        rig.daemon.send_cq_event(1);
    ::fcntl(rig.channel->fd, F_SETFL, O_NONBLOCK);
    std::map<rocem_cq*, std::uint32_t> told;
    while (true) {
        const bool was_readable = readable(rig.channel->fd);
        rocem_cq* cq = next_event(rig.channel);
        if (cq == nullptr) break;
        CHECK(was_readable);
        ++told[cq];
    }
    CHECK(told[rig.cq] > 1);
    CHECK(told[late] == 1);
    CHECK_FALSE(readable(rig.channel->fd));
    rocem_ack_cq_events(rig.cq, told[rig.cq]);
    rocem_ack_cq_events(late, told[late]);
    CHECK(rocem_destroy_cq(late) == 0);
    CHECK(rocem_destroy_cq(elsewhere) == 0);
    CHECK(rocem_destroy_comp_channel(other_channel) == 0);
}

TEST_CASE("rocem_destroy_cq__waits_for_the_acknowledgement") {
    Rig rig({.channel = true});
    rocem_cq* cq = rocem_create_cq(rig.context, 4, nullptr, rig.channel, 0);
    REQUIRE(cq != nullptr);
    rig.daemon.send_cq_event(1);
    REQUIRE(next_event(rig.channel) == cq);
    std::atomic<bool> destroyed{false};
    std::thread destroyer([&] {
        CHECK(rocem_destroy_cq(cq) == 0);
        destroyed = true;
    });
    CHECK_FALSE(destroyed.load());
    rocem_ack_cq_events(cq, 1);
    destroyer.join();
    CHECK(destroyed.load());
}

TEST_CASE("rocem_get_cq_event__an_event_of_a_destroyed_cq_is_nobodys") {
    Rig rig({.channel = true});
    rocem_cq* cq = rocem_create_cq(rig.context, 4, nullptr, rig.channel, 0);
    REQUIRE(cq != nullptr);
    rig.daemon.send_cq_event(1);
    REQUIRE(rocem_destroy_cq(cq) == 0);
    ::fcntl(rig.channel->fd, F_SETFL, O_NONBLOCK);
    CHECK(next_event(rig.channel) == nullptr);
}

TEST_CASE("rocem_get_async_event__names_the_object") {
    Rig rig;
    rig.daemon.send_async(ROCEM_EVENT_QP_ACCESS_ERR, 0);
    rig.daemon.send_async(ROCEM_EVENT_CQ_ERR, 0);
    rig.daemon.send_async(ROCEM_EVENT_PORT_ERR, 0);
    REQUIRE(readable(rig.context->async_fd));
    rocem_async_event event{};
    REQUIRE(rocem_get_async_event(rig.context, &event) == 0);
    CHECK(event.event_type == ROCEM_EVENT_QP_ACCESS_ERR);
    CHECK(event.element.qp == rig.qp);
    rocem_ack_async_event(&event);
    REQUIRE(rocem_get_async_event(rig.context, &event) == 0);
    CHECK(event.event_type == ROCEM_EVENT_CQ_ERR);
    CHECK(event.element.cq == rig.cq);
    rocem_ack_async_event(&event);
    REQUIRE(rocem_get_async_event(rig.context, &event) == 0);
    CHECK(event.event_type == ROCEM_EVENT_PORT_ERR);
    CHECK(event.element.port_num == 1);
    rocem_ack_async_event(&event);
}

}  // namespace
}  // namespace rocem::test
