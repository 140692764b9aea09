// What a replay says: text for people, or one JSON object a capture.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/rocem-replay/replay.hpp"

namespace rocem::tools {

// verbose: every pair of answers, otherwise those that differ, and a line for each kind of explanation.
void print_report(std::ostream& out, const Replay& replay, bool verbose);

nlohmann::ordered_json report_json(const std::string& file, const Replay& replay, bool verbose);
nlohmann::ordered_json counts_json(const ReplayCounts& counts);

}  // namespace rocem::tools
