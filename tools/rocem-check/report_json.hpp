// A report as one JSON object.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/check/report.hpp"
#include "tools/rocem-check/print_report.hpp"

namespace rocem::tools {

nlohmann::ordered_json report_json(const std::string& file, const Report& report);
nlohmann::ordered_json counts_json(const CheckCounts& counts);

}  // namespace rocem::tools
