#include "tools/rocem-bench/measure.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

#include "daemon/nic/dpdk_port.hpp"
#include "daemon/nic/virtual_wire.hpp"
#include "protocol/icrc.hpp"
#include "tools/rocem-bench/wires.hpp"

namespace rocem::tools {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t burst = 32;
constexpr std::size_t ceiling_headers_bytes = 14 + 20 + 8 + 12;  // Ethernet, IPv4, UDP, BTH
constexpr unsigned turns_per_clock_look = 64;

// The engine's clock in a bench: it advances, so that timers work, and costs nothing.
constexpr engine::Duration turn_time{1000};

template <class T>
T& or_throw(tl::expected<T, std::string>& made) {
    if (!made) throw std::runtime_error(made.error());
    return *made;
}

class Pair {
 public:
    Pair(const Workload& workload, BenchWire& a, BenchWire& b)
        : workload_(workload), a_(0, workload.mtu_bytes, a), b_(1, workload.mtu_bytes, b) {
        a_.connect(b_);
        b_.connect(a_);
    }

    void turn() {
        now_ += turn_time;
        if (workload_.opcode == engine::WrOpcode::send) {
            for (std::uint32_t room = b_.receive_room(); room > 0; --room)
                b_.post_receive();
        }
        for (std::uint32_t room = a_.send_room(); room > 0; --room)
            a_.post(workload_, b_);
        a_.turn(now_);
        b_.turn(now_);
        if (a_.failed() || b_.failed())
            throw std::runtime_error(std::string(workload_.name) + ": a transfer failed");
    }

    std::uint64_t messages() const { return a_.sends_completed(); }
    std::uint64_t packets() const { return a_.packets() + b_.packets(); }

 private:
    const Workload& workload_;
    EngineSide a_;
    EngineSide b_;
    engine::Time now_{};
};

}  // namespace

const std::vector<Workload> workloads = {
    {"WRITE 64 KiB, MTU 1024", engine::WrOpcode::rdma_write, 65536, 1024},
    {"WRITE 64 KiB, MTU 4096", engine::WrOpcode::rdma_write, 65536, 4096},
    {"WRITE 64 B, MTU 1024", engine::WrOpcode::rdma_write, 64, 1024},
    {"READ 64 KiB, MTU 4096", engine::WrOpcode::rdma_read, 65536, 4096},
    {"SEND 1 KiB, MTU 1024", engine::WrOpcode::send, 1024, 1024},
};

Figure measure_ceiling(std::uint32_t payload_bytes, daemon::FramePool& pool, Seconds duration) {
    auto made = daemon::make_ring_port_pair("ceiling" + std::to_string(payload_bytes), pool);
    auto& [a, b] = or_throw(made);
    std::vector<std::byte> source(payload_bytes, std::byte{0x5a});
    std::vector<std::byte> sink(payload_bytes);
    const std::size_t covered = ceiling_headers_bytes + payload_bytes;
    std::uint64_t frames = 0;
    std::uint32_t sum = 0;
    const auto begin = Clock::now();
    Seconds elapsed{0};
    while (elapsed < duration) {
        for (unsigned turn = 0; turn < turns_per_clock_look; ++turn) {
            std::array<daemon::FrameBuffer, burst> out;
            const std::size_t count = pool.allocate(out);
            for (daemon::FrameBuffer& frame : std::span(out).first(count)) {
                frame.length = static_cast<std::uint32_t>(covered + protocol::icrc_bytes);
                std::memcpy(frame.data + ceiling_headers_bytes, source.data(), payload_bytes);
                const std::uint32_t icrc = protocol::crc32(0, frame.bytes().first(covered));
                std::memcpy(frame.data + covered, &icrc, sizeof icrc);
            }
            const std::size_t sent = a->transmit({}, std::span(out).first(count));
            daemon::free_frames(std::span(out).subspan(sent, count - sent));
            std::array<daemon::FrameBuffer, burst> in;
            const std::size_t received = b->receive({}, in);
            for (const daemon::FrameBuffer& frame : std::span(in).first(received)) {
                sum ^= protocol::crc32(0, frame.bytes().first(covered));
                std::memcpy(sink.data(), frame.data + ceiling_headers_bytes, payload_bytes);
            }
            daemon::free_frames(std::span(in).first(received));
            frames += received;
        }
        elapsed = Clock::now() - begin;
    }
    if (sink != source && sum == 0) throw std::logic_error("the ceiling lost its payload");
    Figure figure;
    figure.name = "ceiling, " + std::to_string(payload_bytes) + " B payload";
    figure.per_s = figure.packets_per_s = static_cast<double>(frames) / elapsed.count();
    figure.gigabits_per_s = figure.per_s * payload_bytes * 8 / 1e9;
    return figure;
}

Figure measure_engines(const Workload& workload, daemon::FramePool& pool, Seconds duration) {
    auto [port_a, port_b] = daemon::make_virtual_wire("bench");
    const auto wire_a = make_port_wire(*port_a, pool);
    const auto wire_b = make_port_wire(*port_b, pool);
    Pair pair(workload, *wire_a, *wire_b);
    for (unsigned turn = 0; turn < turns_per_clock_look; ++turn)
        pair.turn();  // warm
    const std::uint64_t messages = pair.messages();
    const std::uint64_t packets = pair.packets();
    const auto begin = Clock::now();
    Seconds elapsed{0};
    while (elapsed < duration) {
        for (unsigned turn = 0; turn < turns_per_clock_look; ++turn)
            pair.turn();
        elapsed = Clock::now() - begin;
    }
    Figure figure;
    figure.name = workload.name;
    figure.per_s = static_cast<double>(pair.messages() - messages) / elapsed.count();
    figure.packets_per_s = static_cast<double>(pair.packets() - packets) / elapsed.count();
    figure.gigabits_per_s = figure.per_s * workload.message_bytes * 8 / 1e9;
    return figure;
}

std::uint64_t run_engines(const Workload& workload, std::uint64_t messages) {
    const auto [wire_a, wire_b] = make_plain_wire();
    Pair pair(workload, *wire_a, *wire_b);
    while (pair.messages() < messages)
        pair.turn();
    return pair.packets();
}

}  // namespace rocem::tools
