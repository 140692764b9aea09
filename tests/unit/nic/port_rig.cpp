#include "tests/unit/nic/port_rig.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "daemon/nic/dpdk_environment.hpp"
#include "tests/support/roce_frame.hpp"

namespace rocem::test {
namespace {

constexpr std::uint32_t pool_frames = 4096;
constexpr std::uint32_t pool_frame_bytes = 2048;
constexpr std::size_t psn_at = 14 + 20 + 8 + 9;  // Ethernet, IPv4, UDP, BTH's last three bytes

struct Dpdk {
    std::unique_ptr<daemon::DpdkEnvironment> environment;
    std::unique_ptr<daemon::FramePool> pool;  // last: it goes first

    Dpdk() {
        auto made = daemon::DpdkEnvironment::create(64);
        if (!made) throw std::runtime_error(made.error());
        environment = std::move(*made);
        auto frames = daemon::FramePool::create("test", pool_frames, pool_frame_bytes);
        if (!frames) throw std::runtime_error(frames.error());
        pool = std::move(*frames);
    }
};

class ScriptedPort final : public daemon::PacketPort {
 public:
    explicit ScriptedPort(Script& script) : script_(script) {}
    ~ScriptedPort() override {
        for (const daemon::FrameBuffer& frame : script_.arriving)
            daemon::free_frame(frame);
        script_.arriving.clear();
    }

    std::size_t receive(engine::Time, std::span<daemon::FrameBuffer> out) override {
        const std::size_t count = std::min(out.size(), script_.arriving.size());
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = script_.arriving.front();
            script_.arriving.pop_front();
        }
        return count;
    }
    std::size_t transmit(engine::Time, std::span<const daemon::FrameBuffer> frames) override {
        const std::size_t count = std::min(frames.size(), script_.room);
        for (const daemon::FrameBuffer& frame : frames.first(count))
            script_.sent.push_back(take_number(frame));
        script_.room -= count;
        return count;
    }
    std::size_t transmit_room() const override { return script_.room; }
    int wait_descriptor() const override { return -1; }
    void append_counters(std::vector<daemon::PortCounter>& out) const override {
        out.push_back({"scripted_sent", script_.sent.size()});
    }
    std::string_view description() const override { return "scripted"; }

 private:
    Script& script_;
};

}  // namespace

daemon::FramePool& frame_pool() {
    static Dpdk dpdk;
    return *dpdk.pool;
}

daemon::FrameBuffer make_frame(std::span<const std::byte> bytes) {
    daemon::FrameBuffer frame;
    REQUIRE(frame_pool().allocate({&frame, 1}) == 1);
    REQUIRE(frame.capacity >= bytes.size());
    std::memcpy(frame.data, bytes.data(), bytes.size());
    frame.length = static_cast<std::uint32_t>(bytes.size());
    return frame;
}

Bytes roce_bytes(std::uint32_t number) {
    RocePacket packet;
    packet.opcode = Op::send_only;
    packet.dest_qpn = 0x11;
    packet.psn = number;
    packet.payload = from_hex("00112233445566778899aabb");
    const Address from{{2, 0, 0, 0, 0, 1}, {10, 1, 0, 1}};
    const Address to{{2, 0, 0, 0, 0, 2}, {10, 1, 0, 2}};
    return write_frame(packet, from, to);
}

daemon::FrameBuffer roce_frame(std::uint32_t number) {
    return make_frame(roce_bytes(number));
}

std::uint32_t take_number(daemon::FrameBuffer frame) {
    std::uint32_t number = 0;
    for (const std::byte byte : frame.bytes().subspan(psn_at, 3))
        number = number << 8 | std::to_integer<std::uint32_t>(byte);
    daemon::free_frame(frame);
    return number;
}

std::size_t send_numbers(daemon::PacketPort& port, engine::Time now, std::uint32_t first, std::size_t count) {
    for (std::size_t sent = 0; sent < count; ++sent) {
        const daemon::FrameBuffer frame = roce_frame(first + static_cast<std::uint32_t>(sent));
        if (port.transmit(now, {&frame, 1}) == 0) {
            daemon::free_frame(frame);
            return sent;
        }
    }
    return count;
}

std::vector<std::uint32_t> receive_numbers(daemon::PacketPort& port, engine::Time now) {
    std::vector<std::uint32_t> found;
    std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
    for (std::size_t count = burst.size(); count == burst.size();) {
        count = port.receive(now, burst);
        for (std::size_t i = 0; i < count; ++i)
            found.push_back(take_number(burst[i]));
    }
    return found;
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> made(count);
    std::iota(made.begin(), made.end(), first);
    return made;
}

std::map<std::string, std::uint64_t> counters(const daemon::PacketPort& port) {
    std::vector<daemon::PortCounter> listed;
    port.append_counters(listed);
    std::map<std::string, std::uint64_t> made;
    for (const daemon::PortCounter& counter : listed)
        made.emplace(counter.name, counter.value);
    return made;
}

std::unique_ptr<daemon::PacketPort> make_scripted_port(Script& script) {
    return std::make_unique<ScriptedPort>(script);
}

}  // namespace rocem::test
