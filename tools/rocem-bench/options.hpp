// What the command line of rocem-bench says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocem::tools {

struct BenchOptions {
    double seconds = 1.0;           // of each measurement
    std::uint64_t packets = 20000;  // of each instruction count
    std::vector<std::string> only;  // parts; empty: all
    bool with_daemon = false;       // also between two processes
    bool json = false;

    bool wants(const std::string& part) const;
};

// Parses, or says what is wrong. Nothing: end with `exit_status` (0 after --help).
std::optional<BenchOptions> parse_bench_options(int argc, char** argv, int& exit_status);

}  // namespace rocem::tools
