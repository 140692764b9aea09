#include "tools/check/connection.hpp"

#include <fmt/format.h>

#include <utility>

namespace rocem::tools {

std::string psn_text(Place place) {
    return fmt::format("psn {:#x}", psn_at(place).value());
}

void Connection::settle() {
    if (!began_in_the_middle || covered < top) return;
    began_in_the_middle = false;
    judged_from = top;
}

void Connection::find(Rule rule, std::vector<std::uint64_t> frames, std::string text) {
    const bool accepted = !accepted_as(rule, options.profile).empty();
    if (rule_info(rule).habit_only && !accepted) return;
    report.findings.push_back({rule, std::move(frames), std::move(text), accepted});
}

}  // namespace rocem::tools
