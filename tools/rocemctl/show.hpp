// The daemon's answers as tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rocem::tools {

std::string show_status(const nlohmann::json& answer);
std::string show_nics(const nlohmann::json& answer);
std::string show_qps(const nlohmann::json& answer);
// Counters that are zero are left out unless `all`.
std::string show_counters(const nlohmann::json& answer, bool all);

}  // namespace rocem::tools
