// What tests of ports share: DPDK's environment, a pool, numbered RoCE frames, and a port that does what the
// test says.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/nic/packet_port.hpp"
#include "tests/unit/protocol/bytes.hpp"

namespace rocem::test {

using namespace std::chrono_literals;

// Starts DPDK at the first call: it can be done once per process.
daemon::FramePool& frame_pool();

daemon::FrameBuffer make_frame(std::span<const std::byte> bytes);
// A RoCE v2 packet whose PSN is the number.
daemon::FrameBuffer roce_frame(std::uint32_t number);
Bytes roce_bytes(std::uint32_t number);
// The PSN; the frame is freed.
std::uint32_t take_number(daemon::FrameBuffer frame);

// Sends until the port takes no more; what is not taken is freed. How many were taken.
std::size_t send_numbers(daemon::PacketPort& port, engine::Time now, std::uint32_t first, std::size_t count);
// Everything that is there now, frames freed.
std::vector<std::uint32_t> receive_numbers(daemon::PacketPort& port, engine::Time now);
std::vector<std::uint32_t> numbers(std::uint32_t first, std::size_t count);

std::map<std::string, std::uint64_t> counters(const daemon::PacketPort& port);

// Fails the test case if not all buffers are back in the pool when it ends.
class NoLeak {
 public:
    NoLeak() : before_(frame_pool().available()) {}
    ~NoLeak() { CHECK(frame_pool().available() == before_); }

 private:
    std::uint32_t before_;
};

// What a scripted port was told, and what it was sent. Outlives the port.
struct Script {
    std::deque<daemon::FrameBuffer> arriving;
    std::vector<std::uint32_t> sent;
    std::size_t room = 1000;  // frames it still takes
};

std::unique_ptr<daemon::PacketPort> make_scripted_port(Script& script);

}  // namespace rocem::test
