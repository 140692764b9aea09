#include "config/similar.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace rocem::config {
namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::optional<std::string> most_similar(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t word_length_max = 64;
    if (word.size() > word_length_max) return std::nullopt;
    const std::size_t slips_max = std::max<std::size_t>(2, word.size() / 3);
    std::optional<std::string> best;
    std::size_t best_distance = slips_max + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance || distance >= candidate.size()) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

}  // namespace rocem::config
