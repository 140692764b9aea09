#include "daemon/nic/virtual_wire.hpp"

#include <poll.h>

#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

constexpr engine::Time now{1h};
constexpr std::size_t wire_frames = 512;

bool rings(int descriptor) {
    pollfd watched{descriptor, POLLIN, 0};
    return poll(&watched, 1, 0) == 1;
}

TEST_CASE("virtual wire: carries frames both ways, in order", "[nic][wire]") {
    const NoLeak no_leak;
    auto [a, b] = daemon::make_virtual_wire("w7");
    CHECK(send_numbers(*a, now, 0, 100) == 100);
    CHECK(send_numbers(*b, now, 1000, 50) == 50);
    CHECK(receive_numbers(*b, now) == numbers(0, 100));
    CHECK(receive_numbers(*a, now) == numbers(1000, 50));
    CHECK(receive_numbers(*a, now).empty());
    CHECK(counters(*a)["wire_tx_frames"] == 100);
    CHECK(counters(*a)["wire_rx_frames"] == 50);
    CHECK(a->description() == "virtual wire w7");
}

TEST_CASE("virtual wire: hands over the very buffer", "[nic][wire]") {
    const NoLeak no_leak;
    auto [a, b] = daemon::make_virtual_wire("w0");
    const daemon::FrameBuffer sent = roce_frame(1);
    REQUIRE(a->transmit(now, {&sent, 1}) == 1);
    daemon::FrameBuffer arrived;
    REQUIRE(b->receive(now, {&arrived, 1}) == 1);
    CHECK(arrived.handle == sent.handle);
    CHECK(arrived.length == sent.length);
    daemon::free_frame(arrived);
}

TEST_CASE("virtual wire: pushes back when it is full, and loses nothing", "[nic][wire]") {
    const NoLeak no_leak;
    auto [a, b] = daemon::make_virtual_wire("w0");
    CHECK(a->transmit_room() == wire_frames);
    CHECK(send_numbers(*a, now, 0, wire_frames + 10) == wire_frames);
    CHECK(a->transmit_room() == 0);
    CHECK(counters(*a)["wire_pushed_back"] == 1);
    // The other direction has its own room.
    CHECK(b->transmit_room() == wire_frames);

    // A burst is taken as far as there is room.
    daemon::FrameBuffer one;
    for (std::uint32_t n = 0; n < 3; ++n) {
        REQUIRE(b->receive(now, {&one, 1}) == 1);
        CHECK(take_number(one) == n);
    }
    const std::vector<daemon::FrameBuffer> burst{roce_frame(600), roce_frame(601), roce_frame(602),
                                                 roce_frame(603)};
    CHECK(a->transmit(now, burst) == 3);
    daemon::free_frame(burst[3]);
    std::vector<std::uint32_t> expected = numbers(3, wire_frames - 3);
    expected.insert(expected.end(), {600, 601, 602});
    CHECK(receive_numbers(*b, now) == expected);
}

TEST_CASE("virtual wire: the bell rings for a sleeper only", "[nic][wire]") {
    const NoLeak no_leak;
    auto [a, b] = daemon::make_virtual_wire("w0");
    send_numbers(*a, now, 0, 1);
    CHECK_FALSE(rings(b->wait_descriptor()));  // nobody sleeps: no system call
    CHECK_FALSE(b->begin_sleep());             // something is waiting
    receive_numbers(*b, now);

    REQUIRE(b->begin_sleep());
    CHECK_FALSE(rings(b->wait_descriptor()));
    send_numbers(*b, now, 0, 1);  // its own sending does not wake it
    CHECK_FALSE(rings(b->wait_descriptor()));
    send_numbers(*a, now, 1, 1);
    CHECK(rings(b->wait_descriptor()));
    CHECK_FALSE(rings(a->wait_descriptor()));
    b->end_sleep();
    CHECK_FALSE(rings(b->wait_descriptor()));
    CHECK(receive_numbers(*b, now) == numbers(1, 1));
    send_numbers(*a, now, 2, 1);
    CHECK_FALSE(rings(b->wait_descriptor()));
}

TEST_CASE("virtual wire: frames still on it go back to the pool", "[nic][wire]") {
    const NoLeak no_leak;
    auto [a, b] = daemon::make_virtual_wire("w0");
    send_numbers(*a, now, 0, 10);
    send_numbers(*b, now, 0, 10);
    SECTION("one end goes first") {
        a.reset();
        // The other end may still send and receive.
        CHECK(send_numbers(*b, now, 10, 5) == 5);
        CHECK(receive_numbers(*b, now) == numbers(0, 10));
    }
    SECTION("or the other") {
        b.reset();
    }
}

}  // namespace
}  // namespace rocem::test
