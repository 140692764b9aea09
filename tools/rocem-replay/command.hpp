// The command: captures in, reports and an exit status out.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rocem::tools {

struct ReplayOptions {
    std::vector<std::string> files;
    bool json = false;
    bool verbose = false;
};

// Exit statuses of rocem-replay; a higher one wins.
inline constexpr int replay_ok = 0;
inline constexpr int replay_different = 1;
inline constexpr int replay_unreadable = 2;

int replay_files(const ReplayOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace rocem::tools
