#include "pair.hpp"

#include <algorithm>
#include <stdexcept>

#include "daemon/nic/virtual_wire.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t depth_max = 128;

protocol::PathMtu mtu_of(const Workload& workload) {
    return protocol::PathMtu::from_bytes(workload.mtu).value();
}

}  // namespace

std::vector<Workload> bench_workloads() {
    using engine::WrOpcode;
    return {
        {"WRITE 64 KiB", WrOpcode::rdma_write, 65536, 1024},
        {"WRITE 64 KiB", WrOpcode::rdma_write, 65536, 4096},
        {"WRITE 64 B", WrOpcode::rdma_write, 64, 1024},
        {"READ 64 KiB", WrOpcode::rdma_read, 65536, 4096},
        {"SEND 1 KiB", WrOpcode::send, 1024, 1024},
    };
}

BenchPair::BenchPair(const Workload& workload, daemon::FramePool& pool)
    : workload_(workload),
      local_(bench_memory_bytes, std::byte{0x11}),
      remote_(bench_memory_bytes, std::byte{0x22}),
      wire_(daemon::make_virtual_wire("bench")),
      requester_(1, mtu_of(workload), std::move(wire_.first), pool),
      responder_(2, mtu_of(workload), std::move(wire_.second), pool),
      local_mr_(requester_.register_memory(local_)),
      remote_mr_(responder_.register_memory(remote_)),
      depth_(std::min<std::uint32_t>(
          depth_max, static_cast<std::uint32_t>(bench_memory_bytes / workload.message_bytes))) {
    requester_.connect(responder_);
    responder_.connect(requester_);
}

std::uint64_t BenchPair::slot_offset(std::uint64_t message) const {
    return message % depth_ * workload_.message_bytes;
}

void BenchPair::step() {
    const engine::Time now = bench_now();
    post_receives();
    post_sends(now);
    completions_.clear();
    requester_.turn(now, completions_);
    responder_.turn(now, completions_);
    count(completions_);
}

void BenchPair::post_sends(engine::Time now) {
    for (; posted_ - messages_ < depth_; ++posted_) {
        const std::uint64_t offset = slot_offset(posted_);
        const engine::Sge sge{reinterpret_cast<std::uintptr_t>(local_.data()) + offset,
                              workload_.message_bytes, local_mr_.l_key};
        engine::SendWr wr;
        wr.opcode = workload_.opcode;
        wr.signaled = true;
        wr.remote_addr = reinterpret_cast<std::uintptr_t>(remote_.data()) + offset;
        wr.r_key = remote_mr_.r_key;
        wr.sges = {&sge, 1};
        if (requester_.engine().post_send(now, requester_.qp(), wr) != engine::Error::none) return;
    }
}

void BenchPair::post_receives() {
    if (workload_.opcode != engine::WrOpcode::send) return;
    for (; receives_posted_ - receives_done_ < depth_; ++receives_posted_) {
        const engine::Sge sge{
            reinterpret_cast<std::uintptr_t>(remote_.data()) + slot_offset(receives_posted_),
            workload_.message_bytes, remote_mr_.l_key};
        engine::RecvWr wr;
        wr.sges = {&sge, 1};
        if (responder_.engine().post_recv(responder_.qp(), wr) != engine::Error::none) return;
    }
}

void BenchPair::count(const std::vector<engine::WorkCompletion>& completions) {
    for (const engine::WorkCompletion& completion : completions) {
        if (completion.status != engine::WcStatus::success)
            throw std::runtime_error("a message of the benchmark failed: status " +
                                     std::to_string(static_cast<int>(completion.status)));
        ++(completion.opcode == engine::WcOpcode::receive ? receives_done_ : messages_);
    }
}

Rate measure(const Workload& workload, double seconds, daemon::FramePool& pool) {
    constexpr double warm_up = 0.1;  // of the measured time
    BenchPair pair(workload, pool);
    const auto run_for = [&](double time) {
        const engine::Time end =
            bench_now() + std::chrono::duration_cast<engine::Duration>(std::chrono::duration<double>(time));
        while (bench_now() < end)
            pair.step();
    };
    run_for(seconds * warm_up);
    const std::uint64_t messages_before = pair.messages();
    const std::uint64_t frames_before = pair.frames();
    const engine::Time start = bench_now();
    run_for(seconds);
    Rate rate;
    rate.seconds = std::chrono::duration<double>(bench_now() - start).count();
    rate.messages = pair.messages() - messages_before;
    rate.frames = pair.frames() - frames_before;
    rate.bytes = rate.messages * workload.message_bytes;
    return rate;
}

}  // namespace rocem::tools
