#include "tools/check/report.hpp"

#include <algorithm>

namespace rocem::tools {
namespace {

std::uint64_t count_findings(const Report& report, bool deviation) {
    const auto in = [deviation](const std::vector<Finding>& findings) {
        return static_cast<std::uint64_t>(
            std::count_if(findings.begin(), findings.end(),
                          [deviation](const Finding& finding) { return finding.deviation == deviation; }));
    };
    std::uint64_t sum = in(report.findings);
    for (const ConnectionReport& connection : report.connections)
        sum += in(connection.findings);
    return sum;
}

}  // namespace

std::string_view Finding::name(Profile profile) const {
    return deviation ? accepted_as(rule, profile) : rule_info(rule).name;
}

std::uint64_t Report::requests() const {
    std::uint64_t sum = 0;
    for (const ConnectionReport& connection : connections)
        sum += connection.counters.requests;
    return sum;
}

std::uint64_t Report::violations() const {
    return count_findings(*this, false);
}
std::uint64_t Report::deviations() const {
    return count_findings(*this, true);
}

}  // namespace rocem::tools
