// What crosses threads, without DPDK so that ThreadSanitizer sees all of it: frames here are numbers in place
// of handles.
#include <poll.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "daemon/nic/capture_port.hpp"
#include "daemon/nic/spsc_ring.hpp"
#include "daemon/nic/virtual_wire.hpp"

namespace rocem::test {
namespace {

constexpr std::size_t frames = 100'000;

TEST_CASE("spsc ring: between two threads nothing is lost, doubled or torn", "[nic][threads]") {
    struct Item {
        std::size_t number = 0;
        std::size_t check = 0;
    };
    const std::size_t capacity = GENERATE(1u, 2u, 64u);
    daemon::SpscRing<Item> ring(capacity);
    std::thread producer([&ring] {
        for (std::size_t n = 0; n < frames;) {
            if (ring.push({n, ~n})) {
                ++n;
            } else {
                std::this_thread::yield();
            }
        }
    });
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < frames;) {
        Item item;
        if (!ring.pop(item)) {
            std::this_thread::yield();
            continue;
        }
        wrong += item.number != n || item.check != ~n ? 1 : 0;
        ++n;
    }
    producer.join();
    CHECK(wrong == 0);
    CHECK(ring.empty());
}

daemon::FrameBuffer numbered(std::size_t number) {
    daemon::FrameBuffer frame;
    frame.length = static_cast<std::uint32_t>(number);
    return frame;
}

// Sends all its frames, in bursts that grow and shrink.
void send_all(daemon::PacketPort& port) {
    std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
    for (std::size_t next = 0; next < frames;) {
        const std::size_t count = std::min(1 + next % burst.size(), frames - next);
        for (std::size_t i = 0; i < count; ++i)
            burst[i] = numbered(next + i);
        const std::size_t taken = port.transmit({}, std::span(burst).first(count));
        next += taken;
        if (taken < count) std::this_thread::yield();
    }
}

// Receives all frames, and sleeps on the wire's bell whenever there is none. How many were out of order.
std::size_t receive_all(daemon::PacketPort& port) {
    std::size_t wrong = 0;
    std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
    for (std::size_t next = 0; next < frames;) {
        const std::size_t count = port.receive({}, burst);
        for (std::size_t i = 0; i < count; ++i, ++next)
            wrong += burst[i].length != next ? 1 : 0;
        if (count > 0 || !port.begin_sleep()) continue;
        pollfd watched{port.wait_descriptor(), POLLIN, 0};
        poll(&watched, 1, -1);  // a lost wake-up would hang here
        port.end_sleep();
    }
    return wrong;
}

TEST_CASE("virtual wire: between two threads, asleep and awake, nothing is lost", "[nic][threads][wire]") {
    auto [a, b] = daemon::make_virtual_wire("w0");
    std::size_t wrong = 0;
    std::thread receiver([&wrong, port = b.get()] { wrong = receive_all(*port); });
    send_all(*a);
    receiver.join();
    CHECK(wrong == 0);
}

TEST_CASE("virtual wire: both directions at once", "[nic][threads][wire]") {
    auto [a, b] = daemon::make_virtual_wire("w0");
    std::array<std::size_t, 2> wrong{};
    std::array<std::thread, 2> workers;
    const std::array<daemon::PacketPort*, 2> ends{a.get(), b.get()};
    for (std::size_t side = 0; side < 2; ++side) {
        workers[side] = std::thread([&wrong, side, port = ends[side]] {
            // A worker does both; it never waits for room before it has looked at what arrived.
            std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
            std::size_t sent = 0;
            std::size_t received = 0;
            while (sent < frames || received < frames) {
                if (sent < frames) {
                    const daemon::FrameBuffer frame = numbered(sent);
                    sent += port->transmit({}, {&frame, 1});
                }
                const std::size_t count = port->receive({}, burst);
                for (std::size_t i = 0; i < count; ++i, ++received)
                    wrong[side] += burst[i].length != received ? 1 : 0;
                if (count == 0) std::this_thread::yield();
            }
        });
    }
    for (std::thread& worker : workers)
        worker.join();
    CHECK(wrong == std::array<std::size_t, 2>{});
}

TEST_CASE("capture: the worker and the writer share the buffer", "[nic][threads][capture]") {
    auto [a, b] = daemon::make_virtual_wire("w0");
    auto made = daemon::make_capture_port(std::move(a), "/dev/null", {});
    REQUIRE(made);
    const std::unique_ptr<daemon::PacketPort> port = std::move(*made);
    std::array<std::byte, 100> bytes{};
    daemon::FrameBuffer frame;
    frame.data = bytes.data();
    frame.length = frame.capacity = bytes.size();
    for (std::size_t n = 0; n < frames; ++n) {
        bytes[0] = static_cast<std::byte>(n);  // recorded is a copy: the buffer is free for reuse at once
        REQUIRE(port->transmit({}, {&frame, 1}) == 1);
        daemon::FrameBuffer arrived;
        REQUIRE(b->receive({}, {&arrived, 1}) == 1);
    }
    std::vector<daemon::PortCounter> counters;
    port->append_counters(counters);
    REQUIRE(counters.size() > 2);
    CHECK(counters[0].value + counters[1].value == frames);  // captured and dropped
}

}  // namespace
}  // namespace rocem::test
