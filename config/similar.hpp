// "Did you mean …?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocem::config {

// The candidate that needs the fewest insertions, deletions and replacements to become `word`, if they
// are few enough for it to be a slip of the hand.
std::optional<std::string> most_similar(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rocem::config
