// Captures to lines: one per frame, and a summary.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tools/rocem-dump/inspect.hpp"

namespace rocem::tools {

struct DumpSummary {
    std::uint64_t frames = 0;
    std::uint64_t roce_v2 = 0;
    std::uint64_t icrc_ok = 0;  // RoCE v1 included
    std::uint64_t icrc_bad = 0;
    std::uint64_t icrc_not_checked = 0;

    void count(const Inspection& inspection);
    void add(const DumpSummary& other);
    // "4 frames: 3 RoCE v2, 1 other; ICRC 2 ok, 0 bad, 1 not checked".
    std::string line() const;
};

struct DumpOptions {
    std::vector<std::string> files;
    bool json = false;
};

// Exit statuses of rocem-dump; a higher one wins.
inline constexpr int dump_ok = 0;
inline constexpr int dump_icrc_bad = 1;
inline constexpr int dump_unreadable = 2;

// Writes lines (or one JSON object a line) to out and what could not be read to errors. Returns the exit
// status.
int dump(const DumpOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace rocem::tools
