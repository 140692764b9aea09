// af_packet on the loopback interface of a network namespace that belongs to the test, where nobody else
// sends: what it refuses, and that frames go through the kernel and come back.
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <functional>
#include <thread>

#include "daemon/nic/dpdk_port.hpp"
#include "ipc/unique_fd.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

constexpr engine::Time now{1h};
constexpr auto path_mtu = *protocol::PathMtu::from_bytes(1024);

// Runs in a thread with a namespace of its own; false if this user may not have one.
bool in_new_network(const std::function<void()>& body) {
    frame_pool();  // DPDK starts outside
    bool allowed = false;
    std::exception_ptr failure;
    std::thread([&] {
        allowed = unshare(CLONE_NEWNET) == 0;
        try {
            if (allowed) body();
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure) std::rethrow_exception(failure);
    return allowed;
}

template <class Change>
void change_loopback(unsigned long request, Change change) {
    ifreq wanted{};
    std::strcpy(wanted.ifr_name, "lo");
    change(wanted);
    const ipc::UniqueFd asker(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    REQUIRE(ioctl(asker.get(), request, &wanted) == 0);
}

void set_up() {
    change_loopback(SIOCSIFFLAGS, [](ifreq& wanted) { wanted.ifr_flags = IFF_UP; });
}

auto make_port(std::uint32_t frame_bytes = 2048) {
    daemon::AfPacketOptions options;
    options.interface = "lo";
    options.frame_bytes = frame_bytes;
    return daemon::make_af_packet_port("net_af_packet_test", options, path_mtu, frame_pool());
}

std::string refusal(const tl::expected<std::unique_ptr<daemon::PacketPort>, std::string>& port) {
    return port ? "accepted" : port.error();
}

TEST_CASE("af_packet: refuses an interface that would lose frames without a word", "[nic][dpdk]") {
    std::string down;
    std::string small_mtu;
    std::string small_slots;
    const bool allowed = in_new_network([&] {
        down = refusal(make_port());
        set_up();
        small_slots = refusal(make_port(1024));
        change_loopback(SIOCSIFMTU, [](ifreq& wanted) { wanted.ifr_mtu = 1000; });
        small_mtu = refusal(make_port());
    });
    if (!allowed) ROCEM_SKIP("no privilege for a network namespace");
    CHECK_THAT(down, Catch::Contains("lo") && Catch::Contains("down"));
    CHECK_THAT(small_slots, Catch::Contains("lo") && Catch::Contains("frame_bytes is 1024"));
    CHECK_THAT(small_mtu, Catch::Contains("lo") && Catch::Contains("its MTU is 1000") &&
                              Catch::Contains("path MTU of 1024 needs 1112"));
}

TEST_CASE("af_packet: frames go through the kernel, and wake who waits", "[nic][dpdk]") {
    const NoLeak no_leak;
    std::string error;
    bool woken = false;
    std::vector<std::string> arrived;
    std::map<std::string, std::uint64_t> counted;
    const bool allowed = in_new_network([&] {
        set_up();
        auto made = make_port();
        if (!made) {
            error = made.error();
            return;
        }
        daemon::PacketPort& port = **made;
        const std::vector<daemon::FrameBuffer> burst{roce_frame(1), roce_frame(2)};
        const std::size_t taken = port.transmit(now, burst);
        daemon::free_frames(std::span(burst).subspan(taken));
        while (arrived.size() < taken) {
            pollfd watched{port.wait_descriptor(), POLLIN, 0};
            woken = poll(&watched, 1, -1) == 1;
            daemon::FrameBuffer frame;
            while (port.receive(now, {&frame, 1}) == 1) {
                arrived.push_back(to_hex(frame.bytes()));
                daemon::free_frame(frame);
            }
        }
        counted = counters(port);
    });
    if (!allowed) ROCEM_SKIP("no privilege for a network namespace");
    CHECK(error == "");
    CHECK(woken);
    CHECK(arrived == std::vector<std::string>{to_hex(roce_bytes(1)), to_hex(roce_bytes(2))});
    CHECK(counted["wire_tx_frames"] == 2);
    CHECK(counted["wire_rx_frames"] == 2);
    CHECK(counted["wire_ring_dropped"] == 0);
}

}  // namespace
}  // namespace rocem::test
