#include "daemon/nic/hairpin_port.hpp"

#include <array>

#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

constexpr engine::Time now{1h};
// roce_frame() is sent from ...:01 to ...:02.
constexpr protocol::MacAddress sender{{2, 0, 0, 0, 0, 1}};
constexpr protocol::MacAddress receiver{{2, 0, 0, 0, 0, 2}};

daemon::FrameBuffer outside_frame(std::uint32_t number) {
    daemon::FrameBuffer frame = roce_frame(number);
    frame.data[5] = std::byte{9};
    return frame;
}

TEST_CASE("hairpin: frames for the NIC itself turn round, others leave", "[nic][hairpin]") {
    const NoLeak no_leak;
    Script script;
    auto port = daemon::make_hairpin_port(make_scripted_port(script), receiver);
    const std::vector<daemon::FrameBuffer> mixed{roce_frame(0), outside_frame(1), outside_frame(2),
                                                 roce_frame(3), roce_frame(4),    outside_frame(5)};
    CHECK(port->transmit(now, mixed) == 6);
    CHECK(script.sent == std::vector<std::uint32_t>{1, 2, 5});
    CHECK_FALSE(port->begin_sleep());
    CHECK(receive_numbers(*port, now) == std::vector<std::uint32_t>{0, 3, 4});
    CHECK(port->begin_sleep());
    CHECK(counters(*port)["hairpin_frames"] == 3);
    CHECK(port->description() == "scripted");
}

TEST_CASE("hairpin: a frame from the NIC to others does not turn round", "[nic][hairpin]") {
    const NoLeak no_leak;
    Script script;
    auto port = daemon::make_hairpin_port(make_scripted_port(script), sender);
    CHECK(send_numbers(*port, now, 0, 3) == 3);
    CHECK(script.sent == numbers(0, 3));
    CHECK(receive_numbers(*port, now).empty());
}

TEST_CASE("hairpin: stops at the first frame that is not taken", "[nic][hairpin]") {
    const NoLeak no_leak;
    Script script;
    script.room = 1;
    auto port = daemon::make_hairpin_port(make_scripted_port(script), receiver);
    const std::vector<daemon::FrameBuffer> mixed{roce_frame(0), outside_frame(1), outside_frame(2),
                                                 roce_frame(3)};
    CHECK(port->transmit(now, mixed) == 2);  // 2 has to wait, and 3 behind it
    daemon::free_frames(std::span(mixed).subspan(2));
    CHECK(script.sent == std::vector<std::uint32_t>{1});
    CHECK(receive_numbers(*port, now) == std::vector<std::uint32_t>{0});
}

TEST_CASE("hairpin: keeps the promise of its room, and frees what is left", "[nic][hairpin]") {
    const NoLeak no_leak;
    Script script;
    auto port = daemon::make_hairpin_port(make_scripted_port(script), receiver);
    const std::size_t room = port->transmit_room();
    CHECK(send_numbers(*port, now, 0, room) == room);
    CHECK(port->transmit_room() == 0);
    CHECK(send_numbers(*port, now, 0, 1) == 0);
}

// Neither source may starve the other.
TEST_CASE("hairpin: a busy outside and a busy loop share each burst", "[nic][hairpin]") {
    const NoLeak no_leak;
    Script script;
    auto port = daemon::make_hairpin_port(make_scripted_port(script), receiver);
    for (std::uint32_t n = 0; n < 200; ++n)
        script.arriving.push_back(roce_frame(1000 + n));
    send_numbers(*port, now, 0, 200);
    std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
    std::vector<std::uint32_t> looped;
    std::vector<std::uint32_t> arrived;
    for (int round = 0; round < 4; ++round) {
        REQUIRE(port->receive(now, burst) == burst.size());
        for (const daemon::FrameBuffer& frame : burst) {
            const std::uint32_t number = take_number(frame);
            (number >= 1000 ? arrived : looped).push_back(number);
        }
    }
    CHECK(arrived.size() >= 3 * burst.size() / 2);
    CHECK(looped.size() >= 3 * burst.size() / 2);
    for (const std::uint32_t number : receive_numbers(*port, now))
        (number >= 1000 ? arrived : looped).push_back(number);
    CHECK(looped == numbers(0, 200));
    CHECK(arrived == numbers(1000, 200));
}

}  // namespace
}  // namespace rocem::test
