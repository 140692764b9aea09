// What faults do to frames, in virtual time.
#include "daemon/nic/fault_port.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "daemon/nic/virtual_wire.hpp"
#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

using config::FaultSettings;
using daemon::decide_fault;
using daemon::FrameBuffer;
using daemon::PacketPort;

// A faulty port on a wire, and the clean other end.
struct FaultyWire {
    explicit FaultyWire(const FaultSettings& faults, std::uint64_t seed = 1) {
        auto [a, b] = daemon::make_virtual_wire("w0");
        here = daemon::make_fault_port(std::move(a), faults, seed, frame_pool());
        there = std::move(b);
    }

    NoLeak no_leak;
    engine::Time now{1h};
    std::unique_ptr<PacketPort> here;
    std::unique_ptr<PacketPort> there;
};

FaultSettings on_transmit(const config::DirectionFaults& faults) {
    FaultSettings settings;
    settings.transmit = faults;
    return settings;
}

// A seed for which the first of `frames` frames, and no other, meets a fault of this probability.
template <class Hit>
std::uint64_t seed_for_first_of(std::uint64_t frames, const config::DirectionFaults& faults, Hit hit) {
    for (std::uint64_t seed = 0;; ++seed) {
        bool right = true;
        for (std::uint64_t n = 0; n < frames && right; ++n)
            right = hit(decide_fault(seed, 1, n, faults)) == (n == 0);
        if (right) return seed;
    }
}

TEST_CASE("fault port: without faults frames pass both ways as they are", "[nic][faults]") {
    FaultyWire wire({});
    CHECK(send_numbers(*wire.here, wire.now, 0, 100) == 100);
    CHECK(receive_numbers(*wire.there, wire.now) == numbers(0, 100));
    CHECK(send_numbers(*wire.there, wire.now, 500, 100) == 100);
    CHECK(receive_numbers(*wire.here, wire.now) == numbers(500, 100));
    CHECK(wire.here->next_deadline() == engine::never);
    CHECK(wire.here->description() == "virtual wire w0");
}

TEST_CASE("fault port: loss follows the decisions, and is counted", "[nic][faults]") {
    FaultSettings settings;
    settings.receive.loss = 0.3;
    settings.transmit.loss = 0.3;
    FaultyWire wire(settings, 42);
    std::vector<std::uint32_t> received;
    std::vector<std::uint32_t> transmitted;
    for (std::uint32_t n = 0; n < 100; ++n) {
        if (!decide_fault(42, 0, n, settings.receive).lost) received.push_back(n);
        if (!decide_fault(42, 1, n, settings.transmit).lost) transmitted.push_back(n);
    }
    REQUIRE(received != transmitted);
    send_numbers(*wire.here, wire.now, 0, 100);
    send_numbers(*wire.there, wire.now, 0, 100);
    CHECK(receive_numbers(*wire.there, wire.now) == transmitted);
    CHECK(receive_numbers(*wire.here, wire.now) == received);
    CHECK(counters(*wire.here)["fault_tx_lost"] == 100 - transmitted.size());
    CHECK(counters(*wire.here)["fault_rx_lost"] == 100 - received.size());
}

TEST_CASE("fault port: a duplicated frame arrives twice", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.duplicate = 1;
    FaultyWire wire(on_transmit(faults));
    send_numbers(*wire.here, wire.now, 0, 3);
    CHECK(receive_numbers(*wire.there, wire.now) == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2});
    CHECK(counters(*wire.here)["fault_tx_duplicated"] == 3);
}

TEST_CASE("fault port: a corrupted frame has one bit changed, behind the Ethernet header", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.corrupt = 1;
    FaultyWire wire(on_transmit(faults));
    for (std::uint32_t n = 0; n < 50; ++n) {
        send_numbers(*wire.here, wire.now, n, 1);
        FrameBuffer frame;
        REQUIRE(wire.there->receive(wire.now, {&frame, 1}) == 1);
        const Bytes sent = roce_bytes(n);
        REQUIRE(frame.length == sent.size());
        int changed = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const auto bits = std::popcount(std::to_integer<unsigned>(sent[i] ^ frame.data[i]));
            changed += bits;
            if (i < 14) REQUIRE(bits == 0);
        }
        REQUIRE(changed == 1);
        free_frame(frame);
    }
    CHECK(counters(*wire.here)["fault_tx_corrupted"] == 50);
}

TEST_CASE("fault port: what somebody else still holds is corrupted in a copy", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.corrupt = 1;
    FaultyWire wire(on_transmit(faults));
    const FrameBuffer kept = roce_frame(5);
    retain_frame(kept);
    REQUIRE(wire.here->transmit(wire.now, {&kept, 1}) == 1);
    CHECK(to_hex(kept.bytes()) == to_hex(roce_bytes(5)));
    FrameBuffer frame;
    REQUIRE(wire.there->receive(wire.now, {&frame, 1}) == 1);
    CHECK(to_hex(frame.bytes()) != to_hex(roce_bytes(5)));
    free_frame(frame);
    free_frame(kept);
}

TEST_CASE("fault port: a delayed frame leaves at its deadline", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.delay_us = 70;
    FaultyWire wire(on_transmit(faults));
    send_numbers(*wire.here, wire.now, 0, 2);
    CHECK(receive_numbers(*wire.there, wire.now).empty());
    CHECK(wire.here->next_deadline() == wire.now + 70us);
    const engine::Time due = wire.now + 70us;
    CHECK(receive_numbers(*wire.here, due - 1ns).empty());  // the worker looks at its port
    CHECK(receive_numbers(*wire.there, due - 1ns).empty());
    CHECK(receive_numbers(*wire.here, due).empty());
    CHECK(receive_numbers(*wire.there, due) == numbers(0, 2));
    CHECK(wire.here->next_deadline() == engine::never);
    CHECK(counters(*wire.here)["fault_tx_delayed"] == 2);
}

TEST_CASE("fault port: on receive, too", "[nic][faults]") {
    FaultSettings settings;
    settings.receive.delay_us = 70;
    FaultyWire wire(settings);
    send_numbers(*wire.there, wire.now, 0, 2);
    CHECK(receive_numbers(*wire.here, wire.now).empty());
    CHECK(wire.here->next_deadline() == wire.now + 70us);
    CHECK(receive_numbers(*wire.here, wire.now + 70us) == numbers(0, 2));
    CHECK(counters(*wire.here)["fault_rx_delayed"] == 2);
}

TEST_CASE("fault port: with jitter frames leave in the order of their times", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.delay_us = 10;
    faults.jitter_us = 1000;
    FaultyWire wire(on_transmit(faults), 9);
    std::vector<std::pair<engine::Duration, std::uint32_t>> expected;
    for (std::uint32_t n = 0; n < 20; ++n)
        expected.emplace_back(decide_fault(9, 1, n, faults).delay, n);
    std::sort(expected.begin(), expected.end());
    send_numbers(*wire.here, wire.now, 0, 20);
    receive_numbers(*wire.here, wire.now + 2ms);  // all of them are overdue at one look
    std::vector<std::uint32_t> order;
    for (const auto& [delay, number] : expected)
        order.push_back(number);
    CHECK(receive_numbers(*wire.there, wire.now + 2ms) == order);
}

TEST_CASE("fault port: a reordered frame is overtaken by as many as the settings say", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.reorder = 0.2;
    faults.reorder_frames = 3;
    const auto is_reordered = [](const daemon::FaultDecision& decision) { return decision.overtaken_by > 0; };
    const std::uint64_t seed = seed_for_first_of(6, faults, is_reordered);

    SECTION("it leaves behind the third") {
        FaultyWire wire(on_transmit(faults), seed);
        send_numbers(*wire.here, wire.now, 0, 3);
        CHECK(receive_numbers(*wire.there, wire.now) == numbers(1, 2));
        send_numbers(*wire.here, wire.now, 3, 3);
        CHECK(receive_numbers(*wire.there, wire.now) == std::vector<std::uint32_t>{3, 0, 4, 5});
        CHECK(counters(*wire.here)["fault_tx_reordered"] == 1);
    }
    SECTION("or when its patience of 1 ms is over") {
        FaultyWire wire(on_transmit(faults), seed);
        send_numbers(*wire.here, wire.now, 0, 2);
        CHECK(receive_numbers(*wire.there, wire.now) == numbers(1, 1));
        CHECK(wire.here->next_deadline() == wire.now + 1ms);
        CHECK(receive_numbers(*wire.here, wire.now + 1ms).empty());
        CHECK(receive_numbers(*wire.there, wire.now + 1ms) == numbers(0, 1));
    }
    SECTION("frames that are delayed themselves overtake it when they leave") {
        faults.delay_us = 100;
        FaultyWire wire(on_transmit(faults), seed);
        send_numbers(*wire.here, wire.now, 0, 6);
        CHECK(receive_numbers(*wire.there, wire.now).empty());
        CHECK(wire.here->next_deadline() == wire.now + 100us);
        receive_numbers(*wire.here, wire.now + 100us);
        CHECK(receive_numbers(*wire.there, wire.now + 100us) == std::vector<std::uint32_t>{1, 2, 3, 0, 4, 5});
    }
}

TEST_CASE("fault port: a lost frame overtakes nobody", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.reorder = 0.2;
    faults.loss = 0.2;
    faults.reorder_frames = 1;
    // Frame 0 reordered and kept, frame 1 lost, frame 2 in its place.
    std::uint64_t seed = 0;
    for (;; ++seed) {
        const auto first = decide_fault(seed, 1, 0, faults);
        const auto second = decide_fault(seed, 1, 1, faults);
        const auto third = decide_fault(seed, 1, 2, faults);
        if (first.overtaken_by == 1 && !first.lost && second.lost && third.overtaken_by == 0 && !third.lost)
            break;
    }
    FaultyWire wire(on_transmit(faults), seed);
    send_numbers(*wire.here, wire.now, 0, 2);
    CHECK(receive_numbers(*wire.there, wire.now).empty());
    send_numbers(*wire.here, wire.now, 2, 1);
    CHECK(receive_numbers(*wire.there, wire.now) == std::vector<std::uint32_t>{2, 0});
}

TEST_CASE("fault port: frames that are not RoCE v2 pass unharmed and use up no decision", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.loss = 1;
    FaultyWire wire(on_transmit(faults));
    const Bytes arp = from_hex(
        "ffffffffffff 020000000002 0806 0001 0800 06 04 0001 020000000002 0a010002 000000000000 0a010001");
    const FrameBuffer frame = make_frame(arp);
    REQUIRE(wire.here->transmit(wire.now, {&frame, 1}) == 1);
    FrameBuffer arrived;
    REQUIRE(wire.there->receive(wire.now, {&arrived, 1}) == 1);
    CHECK(to_hex(arrived.bytes()) == to_hex(arp));
    free_frame(arrived);
    CHECK(counters(*wire.here)["fault_tx_lost"] == 0);

    faults.loss = 0.5;
    FaultyWire half(on_transmit(faults), 11);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t n = 0; n < 20; ++n) {
        const FrameBuffer between = make_frame(arp);
        REQUIRE(half.here->transmit(half.now, {&between, 1}) == 1);
        REQUIRE(half.there->receive(half.now, {&arrived, 1}) == 1);
        free_frame(arrived);
        send_numbers(*half.here, half.now, n, 1);
        if (!decide_fault(11, 1, n, faults).lost) expected.push_back(n);
        const auto got = receive_numbers(*half.there, half.now);
        REQUIRE(got == (decide_fault(11, 1, n, faults).lost ? std::vector<std::uint32_t>{} : numbers(n, 1)));
    }
    CHECK(counters(*half.here)["fault_tx_lost"] == 20 - expected.size());
}

// The promise of transmit_room: what is promised is taken, whatever the dice say.
TEST_CASE("fault port: takes as many as it promised, and loses none for lack of room", "[nic][faults]") {
    const NoLeak no_leak;
    config::DirectionFaults faults;
    faults.duplicate = 1;
    Script script;
    script.room = 0;
    auto port = daemon::make_fault_port(make_scripted_port(script), on_transmit(faults), 1, frame_pool());
    const engine::Time now{1h};
    std::uint32_t sent = 0;
    while (const std::size_t room = port->transmit_room()) {
        std::vector<FrameBuffer> frames;
        for (std::size_t i = 0; i < std::min(room, daemon::burst_frames_max); ++i)
            frames.push_back(roce_frame(sent + static_cast<std::uint32_t>(i)));
        REQUIRE(port->transmit(now, frames) == frames.size());
        sent += static_cast<std::uint32_t>(frames.size());
    }
    CHECK(sent > 0);
    CHECK(send_numbers(*port, now, sent, 1) == 0);  // pushes back
    // Frames wait: the worker must not sleep.
    CHECK(port->next_deadline() <= now);

    // The inner port takes a few at a time; the order stays.
    while (script.sent.size() < 2 * sent) {
        script.room = 7;
        const std::size_t before = script.sent.size();
        CHECK(receive_numbers(*port, now).empty());
        REQUIRE(script.sent.size() > before);
    }
    std::vector<std::uint32_t> expected;
    for (std::uint32_t n = 0; n < sent; ++n)
        expected.insert(expected.end(), {n, n});
    CHECK(script.sent == expected);
    CHECK(counters(*port)["fault_tx_lost"] == 0);
    CHECK(port->next_deadline() == engine::never);
}

TEST_CASE("fault port: frames that arrive wait outside while there is no room", "[nic][faults]") {
    const NoLeak no_leak;
    FaultSettings settings;
    settings.receive.delay_us = 100;
    Script script;
    for (std::uint32_t n = 0; n < 1000; ++n)
        script.arriving.push_back(roce_frame(n));
    auto port = daemon::make_fault_port(make_scripted_port(script), settings, 1, frame_pool());
    std::vector<std::uint32_t> got;
    for (engine::Time now{1h}; got.size() < 1000; now += 100us) {
        const auto burst = receive_numbers(*port, now);
        got.insert(got.end(), burst.begin(), burst.end());
        REQUIRE(now < engine::Time(2h));
    }
    CHECK(got == numbers(0, 1000));
}

TEST_CASE("fault port: what it still holds goes back to the pool with it", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.delay_us = 100;
    faults.duplicate = 1;
    FaultyWire wire(on_transmit(faults));  // NoLeak looks when all ports are gone
    send_numbers(*wire.here, wire.now, 0, 10);
}

TEST_CASE("fault port: a pool without buffers costs the copy only, and is counted", "[nic][faults]") {
    config::DirectionFaults faults;
    faults.duplicate = 1;
    FaultyWire wire(on_transmit(faults));
    const FrameBuffer frame = roce_frame(1);
    std::vector<FrameBuffer> rest(frame_pool().available());
    REQUIRE(frame_pool().allocate(rest) == rest.size());
    CHECK(wire.here->transmit(wire.now, {&frame, 1}) == 1);
    daemon::free_frames(rest);
    CHECK(receive_numbers(*wire.there, wire.now) == numbers(1, 1));
    CHECK(counters(*wire.here)["fault_tx_no_buffer"] == 1);
    CHECK(counters(*wire.here)["fault_tx_duplicated"] == 0);
}

}  // namespace
}  // namespace rocem::test
