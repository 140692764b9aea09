// Which of our answers stands against which of the peer's: both sequences keep their order, some of either
// may have no counterpart.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace rocem::tools {

struct AlignedStep {
    std::optional<std::size_t> ours;
    std::optional<std::size_t> peers;
};

// weight(ours, peers): how well two fit, 0 if not at all. causes_before[j]: how many of ours were caused by
// requests captured before the peer's j-th; it cannot answer later ones. Never decreasing. The sum of weights
// is the greatest possible; of equal sums the one that gives each of the peer's answers the latest cause.
// Ours that lie more than band_max behind are not looked at.
std::vector<AlignedStep> align(std::size_t ours_count, const std::vector<std::size_t>& causes_before,
                               const std::function<int(std::size_t, std::size_t)>& weight);

inline constexpr std::size_t band_max = 1024;

}  // namespace rocem::tools
