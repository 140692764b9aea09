// The daemon dies under the client; the client forks.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "rig.hpp"

namespace rocem::test {
namespace {

bool readable(int fd) {
    pollfd watched{fd, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

// Polls until something comes or the daemon's end is noticed.
int poll_until_decided(rocem_cq* cq, rocem_wc* wc) {
    int count = 0;
    while (count == 0)
        count = rocem_poll_cq(cq, 1, wc);
    return count;
}

TEST_CASE("daemon_gone__what_it_completed_comes_first") {
    Rig rig;
    REQUIRE(rig.daemon.complete(0, rig.daemon.completion(0, 0, ROCEM_WC_RECV)));
    rig.daemon.die();
    rocem_wc wc{};
    CHECK(poll_until_decided(rig.cq, &wc) == 1);
    CHECK(wc.wr_id == 1000);
    CHECK(poll_until_decided(rig.cq, &wc) == -EIO);
    CHECK(last_error() == "rocem_poll_cq: the daemon is gone");
}

TEST_CASE("daemon_gone__everything_answers_EIO") {
    Rig rig({.channel = true});
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    rig.daemon.die();
    CHECK(readable(rig.channel->fd));
    CHECK(readable(rig.context->async_fd));
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    CHECK(rocem_get_cq_event(rig.channel, &cq, &cq_context) == EIO);
    CHECK(rig.post_send(0) == EIO);
    CHECK(rig.post_recv(0) == EIO);
    CHECK(rocem_alloc(rig.context, 4096) == nullptr);
    CHECK(errno == EIO);
    CHECK(rig.move_to(ROCEM_QPS_RTS) == EIO);
    CHECK(rocem_req_notify_cq(rig.cq, 0) == EIO);
    CHECK(rocem_close(rig.context) == EBUSY);
    // ~Rig: all destroying calls succeed.
}

TEST_CASE("daemon_gone__DEVICE_FATAL_comes_once") {
    Rig rig;
    const bool announced = GENERATE(false, true);
    if (announced) rig.daemon.send_async(ROCEM_EVENT_DEVICE_FATAL, 0);
    rig.daemon.die();
    rocem_async_event event{};
    REQUIRE(rocem_get_async_event(rig.context, &event) == 0);
    CHECK(event.event_type == ROCEM_EVENT_DEVICE_FATAL);
    rocem_ack_async_event(&event);
    CHECK(rocem_get_async_event(rig.context, &event) == EIO);
    CHECK(rig.post_send(0) == EIO);
}

TEST_CASE("daemon_gone__a_command_notices_it") {
    Rig rig;
    rig.daemon.die();
    CHECK(rocem_alloc_pd(rig.context) == nullptr);
    CHECK(errno == EIO);
    CHECK(last_error() == "rocem_alloc_pd: the daemon is gone");
}

// What the child of a fork reports: 0, or the line of the first check that failed.
#define IN_CHILD(condition)                  \
    do {                                     \
        if (!(condition)) ::_exit(__LINE__); \
    } while (false)

void try_everything_in_child(Rig& rig, void* memory) {
    rocem_wc wc{};
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    rocem_async_event event{};
    rocem_device_attr device{};
    IN_CHILD(rig.post_send(1) == ENODEV);
    IN_CHILD(rig.post_recv(1) == ENODEV);
    IN_CHILD(rocem_poll_cq(rig.cq, 1, &wc) == -ENODEV);
    IN_CHILD(rocem_req_notify_cq(rig.cq, 0) == ENODEV);
    IN_CHILD(rocem_get_cq_event(rig.channel, &cq, &cq_context) == ENODEV);
    IN_CHILD(rocem_get_async_event(rig.context, &event) == ENODEV);
    IN_CHILD(rocem_query_device(rig.context, &device) == ENODEV);
    IN_CHILD(rocem_alloc_pd(rig.context) == nullptr && errno == ENODEV);
    IN_CHILD(rocem_alloc(rig.context, 4096) == nullptr && errno == ENODEV);
    IN_CHILD(rocem_free(rig.context, memory) == ENODEV);
    IN_CHILD(rig.move_to(ROCEM_QPS_ERR) == ENODEV);
    IN_CHILD(rocem_destroy_qp(rig.qp) == ENODEV);
    IN_CHILD(rocem_destroy_cq(rig.cq) == ENODEV);
    IN_CHILD(rocem_destroy_comp_channel(rig.channel) == ENODEV);
    IN_CHILD(rocem_dealloc_pd(rig.pd) == ENODEV);
    IN_CHILD(rocem_close(rig.context) == ENODEV);
    IN_CHILD(::fcntl(rig.channel->fd, F_GETFD) < 0);
    IN_CHILD(::fcntl(rig.context->async_fd, F_GETFD) < 0);
}

TEST_CASE("fork__the_child_cannot_touch_what_the_parent_shares") {
    Rig rig({.channel = true});
    void* memory = rocem_alloc(rig.context, 4096);
    REQUIRE(memory != nullptr);
    REQUIRE(rig.move_to(ROCEM_QPS_RTS) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        try_everything_in_child(rig, memory);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    // The parent goes on, and the daemon has seen nothing of the child.
    CHECK(rig.daemon.take_sends(0).empty());
    CHECK(rig.post_send(5) == 0);
    CHECK(rig.daemon.take_sends(0).size() == 1);
    CHECK(rocem_free(rig.context, memory) == 0);
}

TEST_CASE("fork__the_child_may_open_a_context_of_its_own") {
    Rig rig;
    const pid_t child = ::fork();
    if (child == 0) {
        rocem_context* own = rocem_open(rig.daemon.path().c_str(), nullptr);
        IN_CHILD(own != nullptr);
        rocem_pd* pd = rocem_alloc_pd(own);
        IN_CHILD(pd != nullptr);
        IN_CHILD(rocem_dealloc_pd(pd) == 0);
        IN_CHILD(rocem_close(own) == 0);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(rig.daemon.sessions() == 2);
}

}  // namespace
}  // namespace rocem::test
