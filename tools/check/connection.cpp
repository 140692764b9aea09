#include "tools/check/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
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

void Connection::cover(Place behind) {
    covered = std::max(covered, behind);
    for (Gap& gap : open_gaps()) {
        if (place_of(gap.psn, behind) < behind) gap.repaired = true;
    }
}

std::span<Gap> Connection::open_gaps() {
    const std::vector<Gap>& gaps = report.gaps;
    while (repaired_gaps < gaps.size() && gaps[repaired_gaps].repaired)
        ++repaired_gaps;
    return std::span(report.gaps).subspan(repaired_gaps);
}

// An answer may be on its way for a while, but not behind so many others.
void Connection::remember(const SeenNak& nak) {
    constexpr std::size_t remembered_max = 256;
    if (naks.size() == remembered_max) naks.erase(naks.begin(), naks.begin() + remembered_max / 2);
    naks.push_back(nak);
}

void Connection::find(Rule rule, std::vector<std::uint64_t> frames, std::string text) {
    const bool accepted = !accepted_as(rule, options.profile).empty();
    if (rule_info(rule).habit_only && !accepted) return;
    report.findings.push_back({rule, std::move(frames), std::move(text), accepted});
}

}  // namespace rocem::tools
