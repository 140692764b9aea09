// An engine with the owner that the daemon's NIC is for it, without sessions: the benchmark posts by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "daemon/dma_engine.hpp"
#include "daemon/mapped_road.hpp"
#include "daemon/nic/frame_buffer.hpp"
#include "daemon/nic/packet_port.hpp"
#include "daemon/region_table.hpp"
#include "protocol/packet.hpp"
#include "queue_engine/engine.hpp"

namespace rocem::tools {

inline engine::Time bench_now() {
    return engine::Time{std::chrono::steady_clock::now().time_since_epoch()};
}

// Throws std::runtime_error where the machine does not give what is asked for.
class BenchNic {
 public:
    BenchNic(std::uint8_t host, protocol::PathMtu mtu, std::unique_ptr<daemon::PacketPort> port,
             daemon::FramePool& pool);
    ~BenchNic();
    BenchNic(const BenchNic&) = delete;
    BenchNic& operator=(const BenchNic&) = delete;

    engine::Engine& engine() { return engine_; }
    engine::QpHandle qp() const { return qp_.handle; }
    std::uint64_t sent_frames() const { return sent_frames_; }

    // Registers the bytes under their own address.
    engine::MrInfo register_memory(std::span<std::byte> bytes);
    void connect(const BenchNic& peer);

    // One turn: receive, move bytes, transmit. Completions are appended.
    void turn(engine::Time now, std::vector<engine::WorkCompletion>& completions);

 private:
    void receive(engine::Time now);
    void run_dma(engine::Time now);
    void transmit(engine::Time now);
    void finish_frames(engine::Time now);
    void flush(engine::Time now);

    struct BuiltFrame {
        daemon::FrameBuffer buffer;
        std::uint16_t l3_offset = 0;
    };

    std::vector<protocol::Gid> gids_;
    protocol::MacAddress mac_;
    engine::Engine engine_;
    std::unique_ptr<daemon::PacketPort> port_;
    daemon::FramePool& pool_;
    daemon::RegionTable regions_;
    daemon::MappedRoad road_;
    daemon::DmaEngine dma_;
    engine::PdHandle pd_;
    engine::QpInfo qp_;
    std::vector<BuiltFrame> built_;  // by TxFrameId
    std::vector<daemon::FrameBuffer> received_;
    std::vector<daemon::FrameBuffer> outgoing_;
    std::uint64_t sent_frames_ = 0;
};

}  // namespace rocem::tools
