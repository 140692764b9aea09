// One stream, judged: its connections, one after the other where a queue pair was used again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/check/flows.hpp"
#include "tools/check/options.hpp"
#include "tools/check/report.hpp"

namespace rocem::tools {

// A connection manager's message said where a new connection starts.
struct AnnouncedStart {
    FlowKey requests;
    protocol::Psn psn;
    std::uint64_t order = 0;
};

std::vector<ConnectionReport> judge(const Stream& stream, std::span<const AnnouncedStart> starts,
                                    const CheckOptions& options);

}  // namespace rocem::tools
