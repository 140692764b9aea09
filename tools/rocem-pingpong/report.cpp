#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rocem::tools {
namespace {

double gigabits_per_s(const PhaseResult& result) {
    const auto bits =
        8.0 * static_cast<double>(result.phase.size) * static_cast<double>(result.phase.messages);
    return result.seconds > 0 ? bits / result.seconds / 1e9 : 0;
}

double messages_per_s(const PhaseResult& result) {
    return result.seconds > 0 ? static_cast<double>(result.phase.messages) / result.seconds : 0;
}

double us(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e3;
}

std::string hex(std::uint64_t value) {
    return fmt::format("{:016x}", value);
}

}  // namespace

std::string client_table(const RunFacts& facts, const std::vector<PhaseResult>& results) {
    std::string text =
        fmt::format("{} {} -> {}, path MTU {}\n", facts.nic, facts.local, facts.remote, facts.mtu_bytes);
    text += fmt::format("{:<10}{:>11}{:>11}{:>10}{:>12}{:>11}{:>11}{:>11}  {}\n", "verb", "bytes", "messages",
                        "Gb/s", "messages/s", "p50 us", "p99 us", "max us", "digest");
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    for (const PhaseResult& result : results) {
        const Phase& phase = result.phase;
        text += fmt::format("{:<10}{:>11}{:>11}{:>10.3f}{:>12.0f}{:>11.1f}{:>11.1f}{:>11.1f}  {}\n",
                            name_of(phase.verb), phase.size, phase.messages, gigabits_per_s(result),
                            messages_per_s(result), us(result.latencies.percentile_ns(0.50)),
                            us(result.latencies.percentile_ns(0.99)), us(result.latencies.max_ns()),
                            hex(result.digest));
        messages += phase.messages;
        bytes += phase.messages * phase.size;
    }
    text += fmt::format(
        "verified: {} messages, {} bytes, both sides' digests equal; retransmitted packets: {} here, {} at "
        "the peer\n",
        messages, bytes, facts.retransmitted_here, facts.retransmitted_there);
    return text;
}

std::string client_json(const RunFacts& facts, const std::vector<PhaseResult>& results) {
    nlohmann::json document = {
        {"role", "client"},
        {"nic", facts.nic},
        {"gid", facts.local},
        {"peer_gid", facts.remote},
        {"path_mtu", facts.mtu_bytes},
        {"verified", true},
        {"retransmitted_packets", {{"here", facts.retransmitted_here}, {"peer", facts.retransmitted_there}}},
        {"phases", nlohmann::json::array()},
    };
    for (const PhaseResult& result : results) {
        const Phase& phase = result.phase;
        document["phases"].push_back({
            {"verb", name_of(phase.verb)},
            {"bytes", phase.size},
            {"messages", phase.messages},
            {"depth", phase.depth},
            {"gigabits_per_s", gigabits_per_s(result)},
            {"messages_per_s", messages_per_s(result)},
            {"latency_p50_us", us(result.latencies.percentile_ns(0.50))},
            {"latency_p99_us", us(result.latencies.percentile_ns(0.99))},
            {"latency_max_us", us(result.latencies.max_ns())},
            {"digest", hex(result.digest)},
        });
    }
    return document.dump(2) + "\n";
}

std::string server_line(const RunFacts& facts, const Verified& verified) {
    return fmt::format("{} {} <- {}: verified {} messages, {} bytes, digest {}; retransmitted packets: {}\n",
                       facts.nic, facts.local, facts.remote, verified.messages, verified.bytes,
                       hex(verified.digest), facts.retransmitted_here);
}

std::string server_json(const RunFacts& facts, const Verified& verified) {
    const nlohmann::json document = {
        {"role", "server"},
        {"nic", facts.nic},
        {"gid", facts.local},
        {"peer_gid", facts.remote},
        {"path_mtu", facts.mtu_bytes},
        {"verified", true},
        {"messages", verified.messages},
        {"bytes", verified.bytes},
        {"digest", hex(verified.digest)},
        {"retransmitted_packets", facts.retransmitted_here},
    };
    return document.dump(2) + "\n";
}

}  // namespace rocem::tools
