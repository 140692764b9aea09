// One engine with memory of its own, driven as a worker drives it, without sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/packet.hpp"
#include "queue_engine/engine.hpp"
#include "tools/rocem-bench/wire.hpp"

namespace rocem::tools {

struct Workload {
    const char* name;
    engine::WrOpcode opcode;
    std::uint32_t message_bytes;
    std::uint32_t mtu_bytes;
};

class EngineSide {
 public:
    EngineSide(unsigned number, std::uint32_t mtu_bytes, BenchWire& wire);

    void connect(const EngineSide& peer);
    void post(const Workload& workload, const EngineSide& peer);
    void post_receive();
    std::uint32_t send_room() const { return engine_->send_room(qp_.handle); }
    std::uint32_t receive_room() const { return engine_->receive_room(qp_.handle); }

    // A worker's turn. Adds to the counts below.
    void turn(engine::Time now);

    std::uint64_t sends_completed() const { return sends_completed_; }
    std::uint64_t packets() const { return engine_->counters().rdma_tx_packets; }
    bool failed() const { return failed_; }

 private:
    void receive(engine::Time now);
    void transmit(engine::Time now);
    void run_dma(engine::Time now);
    void complete();

    engine::EngineSettings settings_;
    std::unique_ptr<engine::Engine> engine_;
    BenchWire& wire_;
    std::vector<std::byte> memory_;
    engine::PdHandle pd_;
    engine::MrInfo mr_;
    engine::QpInfo qp_;
    protocol::ReceiveContext context_;
    std::vector<daemon::FrameBuffer> under_construction_;
    std::vector<std::size_t> l3_offsets_;
    std::vector<daemon::FrameBuffer> spare_;
    std::vector<engine::DmaAnswer> answers_;
    std::uint64_t sends_completed_ = 0;
    bool failed_ = false;
};

}  // namespace rocem::tools
