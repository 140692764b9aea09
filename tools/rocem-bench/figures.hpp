// What was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocem::tools {

// Payload that went through.
struct Rate {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;  // payload
    std::uint64_t frames = 0;
    double seconds = 0;

    double gigabits_per_second() const { return static_cast<double>(bytes) * 8 / seconds / 1e9; }
    double messages_per_second() const { return static_cast<double>(messages) / seconds; }
    double frames_per_second() const { return static_cast<double>(frames) / seconds; }
};

struct CeilingFigure {
    std::uint32_t payload_bytes = 0;  // of each frame
    Rate rate;
};

struct VerbFigure {
    std::string name;
    std::uint32_t mtu = 0;
    std::uint32_t payload_bytes = 0;  // of a full frame, to find its ceiling
    Rate rate;
};

struct CostFigure {
    std::string name;
    double nanoseconds = 0;              // per packet
    std::optional<double> instructions;  // per packet; nothing where they cannot be counted
};

struct BenchFigures {
    std::vector<CeilingFigure> ceilings;
    std::vector<VerbFigure> verbs;
    std::vector<VerbFigure> processes;  // the same verbs between two client processes
    std::vector<CostFigure> costs;
    std::string why_no_instructions;  // empty if they were counted

    // Gb/s of the ceiling for frames of this payload, if it was measured.
    std::optional<double> ceiling(std::uint32_t payload_bytes) const;
};

}  // namespace rocem::tools
