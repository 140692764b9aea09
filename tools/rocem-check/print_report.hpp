// A report for people, and what it counts.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "tools/check/report.hpp"

namespace rocem::tools {

struct CheckCounts {
    std::uint64_t frames = 0;
    std::uint64_t connections = 0;
    std::uint64_t requests = 0;
    std::uint64_t violations = 0;
    std::uint64_t deviations = 0;

    static CheckCounts of(const Report& report);
    void add(const CheckCounts& other);
    // "61 frames: 2 connections, 36 requests, 0 violations, 5 deviations".
    std::string line() const;
};

void print_report(std::ostream& out, const Report& report);

// "VIOLATION second NAK: frame 12 (frame 9): psn 0x5 has had its NAK".
std::string describe(const Finding& finding, Profile profile);
// "gap at psn 0x5 (frame 7), NAK (frame 9), resent (frame 11)".
std::string describe(const Gap& gap);

}  // namespace rocem::tools
