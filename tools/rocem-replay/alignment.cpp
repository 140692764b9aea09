#include "tools/rocem-replay/alignment.hpp"

#include <algorithm>
#include <cstdint>

namespace rocem::tools {
namespace {

enum class Move : std::uint8_t { skip_ours, skip_peers, pair };

// One row of the table per answer of the peer, for the first `from` to `to` of ours.
struct Row {
    std::size_t from = 0;
    std::size_t to = 0;
    std::vector<Move> moves;  // for from + 1 .. to
};

class Table {
 public:
    Table(const std::vector<std::size_t>& causes_before,
          const std::function<int(std::size_t, std::size_t)>& weight) {
        std::vector<int> above{0};  // scores of the row before, from its `from`
        Row none;
        for (std::size_t j = 0; j < causes_before.size(); ++j) {
            const Row& before = j == 0 ? none : rows_[j - 1];
            Row row;
            row.to = causes_before[j];
            row.from = row.to > band_max ? row.to - band_max : 0;
            row.from = std::max(row.from, before.from);
            above = fill(row, before, above, j, weight);
            rows_.push_back(std::move(row));
        }
    }

    // From the last answers back to the first.
    std::vector<AlignedStep> walk(std::size_t ours_count) const {
        std::vector<AlignedStep> steps;
        std::size_t i = ours_count;
        std::size_t j = rows_.size();
        while (i > 0 || j > 0) {
            Move move = Move::skip_ours;
            if (j > 0 && i <= rows_[j - 1].to) {
                const Row& row = rows_[j - 1];
                move = i <= row.from ? Move::skip_peers : row.moves[i - row.from - 1];
            }
            AlignedStep step;
            if (move != Move::skip_peers) step.ours = --i;
            if (move != Move::skip_ours) step.peers = --j;
            steps.push_back(step);
        }
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

 private:
    static std::vector<int> fill(Row& row, const Row& before, const std::vector<int>& above, std::size_t j,
                                 const std::function<int(std::size_t, std::size_t)>& weight) {
        const auto score_above = [&](std::size_t i) { return above[std::min(i, before.to) - before.from]; };
        std::vector<int> scores(row.to - row.from + 1);
        row.moves.resize(row.to - row.from);
        scores[0] = score_above(row.from);
        for (std::size_t i = row.from + 1; i <= row.to; ++i) {
            const std::size_t at = i - row.from;
            int best = scores[at - 1];
            Move move = Move::skip_ours;
            if (score_above(i) > best) {
                best = score_above(i);
                move = Move::skip_peers;
            }
            const int fit = weight(i - 1, j);
            if (fit > 0 && score_above(i - 1) + fit >= best) {
                best = score_above(i - 1) + fit;
                move = Move::pair;
            }
            scores[at] = best;
            row.moves[at - 1] = move;
        }
        return scores;
    }

    std::vector<Row> rows_;
};

}  // namespace

std::vector<AlignedStep> align(std::size_t ours_count, const std::vector<std::size_t>& causes_before,
                               const std::function<int(std::size_t, std::size_t)>& weight) {
    return Table(causes_before, weight).walk(ours_count);
}

}  // namespace rocem::tools
