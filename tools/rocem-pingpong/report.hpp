// What a run prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "histogram.hpp"
#include "phases.hpp"

namespace rocem::tools {

struct PhaseResult {
    Phase phase;
    double seconds = 0;   // from the first post to the last completion of each window, summed up
    Histogram latencies;  // from post to completion
    std::uint64_t digest = 0;
};

struct RunFacts {
    std::string nic;
    std::string local;  // GID
    std::string remote;
    std::uint32_t mtu_bytes = 0;
    std::uint64_t retransmitted_here = 0;
    std::uint64_t retransmitted_there = 0;
};

std::string client_table(const RunFacts& facts, const std::vector<PhaseResult>& results);
std::string client_json(const RunFacts& facts, const std::vector<PhaseResult>& results);

// "verified: 14000 messages, 70 MB, …"
struct Verified {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;  // of the phases' digests
};

std::string server_line(const RunFacts& facts, const Verified& verified);
std::string server_json(const RunFacts& facts, const Verified& verified);

}  // namespace rocem::tools
