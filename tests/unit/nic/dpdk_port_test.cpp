// Ports of DPDK devices, as far as any user may have them.
#include "daemon/nic/dpdk_port.hpp"

#include "daemon/nic/dpdk_environment.hpp"
#include "daemon/nic/interface_facts.hpp"
#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

constexpr engine::Time now{1h};

TEST_CASE("dpdk port: a pair of net_ring ports carries frames both ways", "[nic][dpdk]") {
    const NoLeak no_leak;
    auto pair = daemon::make_ring_port_pair("pair0", frame_pool());
    REQUIRE(pair);
    auto& [a, b] = *pair;
    CHECK(a->wait_descriptor() == -1);
    CHECK(send_numbers(*a, now, 0, 100) == 100);
    CHECK(send_numbers(*b, now, 500, 100) == 100);
    CHECK(receive_numbers(*b, now) == numbers(0, 100));
    CHECK(receive_numbers(*a, now) == numbers(500, 100));
    CHECK(counters(*a)["wire_tx_frames"] == 100);
    CHECK(counters(*a)["wire_rx_frames"] == 100);
}

TEST_CASE("dpdk port: the bytes and the length are those that were sent", "[nic][dpdk]") {
    const NoLeak no_leak;
    auto pair = daemon::make_ring_port_pair("pair1", frame_pool());
    REQUIRE(pair);
    const Bytes bytes = roce_bytes(77);
    const daemon::FrameBuffer frame = make_frame(bytes);
    REQUIRE(pair->first->transmit(now, {&frame, 1}) == 1);
    daemon::FrameBuffer arrived;
    REQUIRE(pair->second->receive(now, {&arrived, 1}) == 1);
    CHECK(to_hex(arrived.bytes()) == to_hex(bytes));
    daemon::free_frame(arrived);
}

TEST_CASE("dpdk port: a full ring pushes back", "[nic][dpdk]") {
    const NoLeak no_leak;
    auto pair = daemon::make_ring_port_pair("pair2", frame_pool());
    REQUIRE(pair);
    const std::size_t taken = send_numbers(*pair->first, now, 0, 2000);
    CHECK(taken < 2000);
    CHECK(counters(*pair->first)["wire_pushed_back"] == 1);
    CHECK(receive_numbers(*pair->second, now) == numbers(0, taken));
}

TEST_CASE("dpdk port: a pair takes everything with it, its name too", "[nic][dpdk]") {
    const NoLeak no_leak;
    for (int round = 0; round < 3; ++round) {
        auto pair = daemon::make_ring_port_pair("again", frame_pool());
        INFO((pair ? "" : pair.error()));
        REQUIRE(pair);
        send_numbers(*pair->first, now, 0, 10);
    }
    auto pair = daemon::make_ring_port_pair("twice", frame_pool());
    REQUIRE(pair);
    const auto second = daemon::make_ring_port_pair("twice", frame_pool());
    REQUIRE_FALSE(second);
    CHECK_THAT(second.error(), Catch::Contains("twice") && Catch::Contains("File exists"));
    send_numbers(*pair->second, now, 0, 10);
    CHECK(receive_numbers(*pair->first, now) == numbers(0, 10));
}

TEST_CASE("dpdk port: an af_packet port names the interface that is missing", "[nic][dpdk]") {
    frame_pool();
    const auto port = daemon::make_af_packet_port("net_af_packet0", {.interface = "rocemnone0"},
                                                  *protocol::PathMtu::from_bytes(1024), frame_pool());
    REQUIRE_FALSE(port);
    CHECK_THAT(port.error(), Catch::Contains("rocemnone0") && Catch::Contains("No such device"));
}

TEST_CASE("interface facts: what the kernel says", "[nic][dpdk]") {
    const auto loopback = daemon::interface_facts("lo");
    REQUIRE(loopback);
    CHECK(loopback->mtu > 0);
    const auto long_name = daemon::interface_facts("a-name-of-more-than-15-characters");
    REQUIRE_FALSE(long_name);
    CHECK_THAT(long_name.error(), Catch::Contains("a-name-of-more-than-15-characters"));
    CHECK_FALSE(daemon::interface_facts(""));
}

TEST_CASE("frame pool: gives what it has and takes it back", "[nic][dpdk]") {
    frame_pool();
    auto pool = daemon::FramePool::create("small", 8, 256);
    REQUIRE(pool);
    std::vector<daemon::FrameBuffer> frames(10);
    CHECK((*pool)->available() == 8);
    CHECK((*pool)->allocate(frames) == 8);
    CHECK((*pool)->available() == 0);
    CHECK(frames[0].length == 0);
    CHECK(frames[0].capacity >= 256);
    daemon::retain_frame(frames[0]);
    CHECK(daemon::frame_is_shared(frames[0]));
    daemon::free_frames(std::span(frames).first(8));
    CHECK((*pool)->available() == 7);
    CHECK_FALSE(daemon::frame_is_shared(frames[0]));
    daemon::free_frame(frames[0]);
    CHECK((*pool)->available() == 8);
}

TEST_CASE("frame pool: too little memory is an error that says what to do", "[nic][dpdk]") {
    frame_pool();
    const auto pool = daemon::FramePool::create("huge", 1'000'000, 9000);
    REQUIRE_FALSE(pool);
    CHECK_THAT(pool.error(), Catch::Contains("memory_mib") && Catch::Contains("huge"));
}

TEST_CASE("dpdk environment: a second one in the process is refused", "[nic][dpdk]") {
    frame_pool();
    const auto again = daemon::DpdkEnvironment::create(64);
    CHECK_FALSE(again);
}

}  // namespace
}  // namespace rocem::test
