// Two engines on one thread, joined by the virtual wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench_nic.hpp"
#include "figures.hpp"

namespace rocem::tools {

struct Workload {
    std::string name;
    engine::WrOpcode opcode = engine::WrOpcode::rdma_write;
    std::uint32_t message_bytes = 0;
    std::uint32_t mtu = 1024;
};

// Messages of a workload go over the same bytes in turn: as many as fit into this much memory.
inline constexpr std::size_t bench_memory_bytes = std::size_t{1} << 20;

class BenchPair {
 public:
    BenchPair(const Workload& workload, daemon::FramePool& pool);

    // Posts what there is room for and turns both NICs once. Messages that completed are counted.
    void step();
    std::uint64_t messages() const { return messages_; }
    std::uint64_t frames() const { return requester_.sent_frames() + responder_.sent_frames(); }

 private:
    void post_sends(engine::Time now);
    void post_receives();
    void count(const std::vector<engine::WorkCompletion>& completions);
    std::uint64_t slot_offset(std::uint64_t message) const;

    Workload workload_;
    std::vector<std::byte> local_;
    std::vector<std::byte> remote_;
    std::pair<std::unique_ptr<daemon::PacketPort>, std::unique_ptr<daemon::PacketPort>> wire_;
    BenchNic requester_;
    BenchNic responder_;
    engine::MrInfo local_mr_;
    engine::MrInfo remote_mr_;
    std::uint32_t depth_ = 0;  // messages under way at once
    std::uint64_t posted_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t receives_posted_ = 0;
    std::uint64_t receives_done_ = 0;
    std::vector<engine::WorkCompletion> completions_;
};

// The workloads of the report.
std::vector<Workload> bench_workloads();

Rate measure(const Workload& workload, double seconds, daemon::FramePool& pool);

}  // namespace rocem::tools
