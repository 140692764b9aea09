// The command: captures in, reports and an exit status out.
#pragma once

#include <iosfwd>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/check/options.hpp"
#include "tools/check/report.hpp"

namespace rocem::tools {

struct CheckCommand {
    std::vector<std::string> files;
    bool json = false;
    CheckOptions options;
};

// Exit statuses of rocem-check; a higher one wins.
inline constexpr int check_ok = 0;
inline constexpr int check_violation = 1;
inline constexpr int check_unreadable = 2;

// An error is one sentence that begins with the path.
tl::expected<Report, std::string> check_file(const std::string& path, const CheckOptions& options);

int check_files(const CheckCommand& command, std::ostream& out, std::ostream& errors);

}  // namespace rocem::tools
