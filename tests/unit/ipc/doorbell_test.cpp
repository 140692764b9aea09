#include "ipc/doorbell.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <memory>
#include <set>

namespace rocem::ipc {
namespace {

bool readable(int fd) {
    pollfd watched{fd, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

TEST_CASE("bitmap__takes_what_was_marked_once") {
    auto bitmap = std::make_unique<Bitmap>();
    CHECK_FALSE(any_marked(*bitmap));
    const std::set<std::uint32_t> marked = {0, 1, 63, 64, 4095, 4096, 16383};
    for (const std::uint32_t slot : marked) {
        mark(*bitmap, slot);
        mark(*bitmap, slot);
    }
    CHECK(any_marked(*bitmap));
    std::multiset<std::uint32_t> taken;
    take_marked(*bitmap, [&](std::uint32_t slot) { taken.insert(slot); });
    CHECK(taken == std::multiset<std::uint32_t>(marked.begin(), marked.end()));
    CHECK_FALSE(any_marked(*bitmap));
    take_marked(*bitmap, [&](std::uint32_t) { FAIL("nothing is marked"); });
}

TEST_CASE("bitmap__a_liar_only_costs_looks") {
    auto bitmap = std::make_unique<Bitmap>();
    // Summary without leaves, leaves without summary.
    for (std::uint64_t& word : bitmap->summary)
        word = ~std::uint64_t{0};
    take_marked(*bitmap, [&](std::uint32_t) { FAIL("no leaf is set"); });
    for (std::uint64_t& word : bitmap->leaves)
        word = ~std::uint64_t{0};
    CHECK_FALSE(any_marked(*bitmap));
    for (std::uint64_t& word : bitmap->summary)
        word = ~std::uint64_t{0};
    std::uint32_t count = 0;
    take_marked(*bitmap, [&](std::uint32_t slot) {
        REQUIRE(slot < queue_slots_max);
        ++count;
    });
    CHECK(count == queue_slots_max);
}

TEST_CASE("doorbell__each_ring_is_an_edge_although_nobody_reads") {
    const UniqueFd doorbell = make_doorbell();
    const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    REQUIRE(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, doorbell.get(), &event) == 0);
    CHECK(::epoll_wait(epoll.get(), &event, 1, 0) == 0);
    for (int i = 0; i < 3; ++i) {
        ring_doorbell(doorbell.get());
        CHECK(::epoll_wait(epoll.get(), &event, 1, 0) == 1);
        CHECK(::epoll_wait(epoll.get(), &event, 1, 0) == 0);
    }
}

TEST_CASE("doorbell__one_that_a_client_filled_does_not_block_the_next_ring") {
    const UniqueFd doorbell = make_doorbell();
    const std::uint64_t full = ~std::uint64_t{0} - 1;
    REQUIRE(::write(doorbell.get(), &full, sizeof(full)) == sizeof(full));
    ring_doorbell(doorbell.get());
    CHECK(readable(doorbell.get()));
}

TEST_CASE("arm__is_taken_by_what_it_was_set_for") {
    CqHead head{};
    CHECK_FALSE(take_arm(head, true));
    arm_cq(head, ROCEM_ABI_ARM_SOLICITED);
    CHECK_FALSE(take_arm(head, false));
    CHECK(take_arm(head, true));
    CHECK_FALSE(take_arm(head, true));
    arm_cq(head, ROCEM_ABI_ARM_ANY);
    CHECK(take_arm(head, false));
    CHECK_FALSE(take_arm(head, false));
}

TEST_CASE("arm__for_any_completion_is_not_lowered") {
    CqHead head{};
    arm_cq(head, ROCEM_ABI_ARM_ANY);
    arm_cq(head, ROCEM_ABI_ARM_SOLICITED);
    CHECK(take_arm(head, false));
    arm_cq(head, ROCEM_ABI_ARM_SOLICITED);
    arm_cq(head, ROCEM_ABI_ARM_ANY);
    CHECK(take_arm(head, false));
}

TEST_CASE("arm__a_word_that_is_no_arm_sends_nothing") {
    CqHead head{};
    head.arm = 77;
    CHECK_FALSE(take_arm(head, true));
}

TEST_CASE("send_event__never_blocks_and_tells_when_the_client_is_gone") {
    SocketPair sockets = make_event_sockets();
    // What a client may do to its own end does not reach the daemon's.
    ::fcntl(sockets.client_end.get(), F_SETFL, 0);
    const rocem_abi_cq_event event{5, 1};
    int sent = 0;
    while (send_event(sockets.daemon_end.get(), &event, sizeof(event)) == Sent::yes)
        ++sent;
    CHECK(sent > 1);
    CHECK(send_event(sockets.daemon_end.get(), &event, sizeof(event)) == Sent::full);
    sockets.client_end.reset();
    CHECK(send_event(sockets.daemon_end.get(), &event, sizeof(event)) == Sent::gone);
}

TEST_CASE("send_cq_event__when_the_socket_is_full_the_cq_is_marked") {
    const SocketPair sockets = make_event_sockets();
    auto missed = std::make_unique<Bitmap>();
    int sent = 0;
    while (!any_marked(*missed)) {
        REQUIRE(send_cq_event(sockets.daemon_end.get(), *missed, {9, 1}) == Sent::yes);
        ++sent;
    }
    REQUIRE(send_cq_event(sockets.daemon_end.get(), *missed, {10, 1}) == Sent::yes);
    std::set<std::uint32_t> marked;
    take_marked(*missed, [&](std::uint32_t slot) { marked.insert(slot); });
    CHECK(marked == std::set<std::uint32_t>{9, 10});
    // Still readable: who looks into the marks first finds them.
    CHECK(readable(sockets.client_end.get()));
}

TEST_CASE("receive_event__says_what_came") {
    SocketPair sockets = make_event_sockets();
    ::fcntl(sockets.client_end.get(), F_SETFL, O_NONBLOCK);
    rocem_abi_cq_event event{};
    const int end = sockets.client_end.get();
    CHECK(receive_event(end, &event, sizeof(event)) == Received::nothing);
    const rocem_abi_cq_event sent{5, 6};
    REQUIRE(send_event(sockets.daemon_end.get(), &sent, sizeof(sent)) == Sent::yes);
    CHECK(receive_event(end, &event, sizeof(event)) == Received::event);
    CHECK(event.cq_slot == 5);
    CHECK(event.cq_epoch == 6);
    REQUIRE(send_event(sockets.daemon_end.get(), &sent, 3) == Sent::yes);
    CHECK(receive_event(end, &event, sizeof(event)) == Received::malformed);
    const std::uint64_t long_one[2] = {};
    REQUIRE(send_event(sockets.daemon_end.get(), &long_one, sizeof(long_one)) == Sent::yes);
    CHECK(receive_event(end, &event, sizeof(event)) == Received::malformed);
    sockets.daemon_end.reset();
    CHECK(receive_event(end, &event, sizeof(event)) == Received::closed);
    CHECK(readable(end));
}

}  // namespace
}  // namespace rocem::ipc
