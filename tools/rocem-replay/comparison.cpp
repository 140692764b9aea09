#include "tools/rocem-replay/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/syndrome.hpp"
#include "tools/rocem-replay/alignment.hpp"
#include "tools/rocem-replay/deviations.hpp"
#include "tools/rocem-replay/missing.hpp"

namespace rocem::tools {
namespace {

using protocol::NakCode;
using protocol::Operation;
using protocol::RocePacket;
using protocol::Syndrome;

// How much two answers want to stand against each other; see align.
enum Fit : int {
    no_fit = 0,
    damaged_fit = 1,
    same_psn = 3,
    same_psn_damaged = 4,
    cut_fit = 5,
    deviates = 8,
    equal = 10
};

bool is_fatal(const RocePacket& roce) {
    if (roce.info->operation != Operation::acknowledge) return false;
    const auto code = Syndrome(roce.aeth.syndrome).nak_code();
    return code && *code != NakCode::psn_sequence_error;
}

class Comparison {
 public:
    Comparison(const Capture& capture, const Connection& connection, const ResponderSetup& setup,
               const Play& play, std::string_view file)
        : capture_(capture), setup_(setup), play_(play), file_(file), missing_(capture, connection, setup) {
        std::merge(connection.answers.begin(), connection.answers.end(), connection.damaged_answers.begin(),
                   connection.damaged_answers.end(), std::back_inserter(peers_));
    }

    std::vector<Finding> run() {
        std::vector<std::size_t> causes_before;
        std::size_t caused = 0;
        for (const std::size_t at : peers_) {
            while (caused < play_.answers.size() && play_.answers[caused].caused_by < at)
                ++caused;
            causes_before.push_back(caused);
        }
        const auto steps = align(play_.answers.size(), causes_before,
                                 [this](std::size_t ours, std::size_t peers) { return fit(ours, peers); });
        for (const AlignedStep& step : steps)
            take(step);
        close_gap();
        end_after_fatal_difference();
        return std::move(findings_);
    }

 private:
    const RocePacket& ours(std::size_t index) const { return play_.answers[index].packet.roce; }
    const RocePacket& peers(std::size_t index) const { return capture_[peers_[index]].packet.roce; }
    bool damaged(std::size_t index) const { return !capture_[peers_[index]].icrc_right && !cut(index); }
    bool cut(std::size_t index) const { return capture_[peers_[index]].cut(); }

    int fit(std::size_t our, std::size_t peer) const {
        const bool psn = ours(our).bth.psn == peers(peer).bth.psn;
        if (damaged(peer)) return psn ? same_psn_damaged : damaged_fit;
        if (!psn) return no_fit;
        if (cut(peer)) return ours(our).info == peers(peer).info ? cut_fit : no_fit;
        if (same_answer(ours(our), peers(peer), setup_.msn)) return equal;
        return find_deviation(file_, pair(our, peer)) != nullptr ? deviates : same_psn;
    }

    Disagreement extra(std::size_t peer) const {
        Disagreement disagreement;
        disagreement.peers = &peers(peer);
        if (peer > 0 && !damaged(peer - 1)) disagreement.previous_peers = &peers(peer - 1);
        if (peer + 1 < peers_.size() && !damaged(peer + 1)) disagreement.next_peers = &peers(peer + 1);
        disagreement.setup = &setup_;
        return disagreement;
    }

    Disagreement pair(std::size_t our, std::size_t peer) const {
        Disagreement disagreement = extra(peer);
        disagreement.ours = &ours(our);
        disagreement.request = &capture_[play_.answers[our].caused_by].packet.roce;
        return disagreement;
    }

    void take(const AlignedStep& step) {
        if (step.ours && step.peers) {
            close_gap();
            judge_pair(*step.ours, *step.peers);
        } else if (step.ours) {
            gap_ours_.push_back(*step.ours);
        } else {
            gap_peers_.push_back(*step.peers);
        }
    }

    void judge_pair(std::size_t our, std::size_t peer) {
        Finding finding;
        finding.ours = our;
        finding.peers = peers_[peer];
        if (damaged(peer)) {
            // The requester cannot have taken it: then it behaves as if it had not come.
            finding.why = missing_.explain(play_.answers[our]);
            finding.verdict = finding.why.empty() ? Verdict::different : Verdict::explained;
            if (finding.why.empty())
                finding.why = "the peer's answer has a wrong ICRC, yet nobody asks again";
        } else if (cut(peer)) {
            finding.verdict = Verdict::not_compared;
            finding.why = "the capture holds only the beginning of the peer's answer";
        } else if (!same_answer(ours(our), peers(peer), setup_.msn)) {
            const Deviation* deviation = find_deviation(file_, pair(our, peer));
            finding.verdict = deviation != nullptr ? Verdict::explained : Verdict::different;
            finding.why = deviation != nullptr ? fmt::format("{}: {}", deviation->name, deviation->rule)
                                               : describe_difference(ours(our), peers(peer));
        }
        findings_.push_back(std::move(finding));
        sorted_ = findings_.size();
    }

    std::string describe_difference(const RocePacket& a, const RocePacket& b) const {
        std::vector<std::string_view> parts;
        if (a.info != b.info) parts.push_back("opcode");
        if (a.bth.psn != b.bth.psn) parts.push_back("PSN");
        if (a.info->has_aeth && b.info->has_aeth) {
            if (a.aeth.syndrome != b.aeth.syndrome) parts.push_back("syndrome");
            if (protocol::Msn(a.aeth.msn.value() + setup_.msn.value()) != b.aeth.msn) parts.push_back("MSN");
        }
        if (a.info->has_atomic_ack_eth && b.info->has_atomic_ack_eth && a.atomic_ack_eth != b.atomic_ack_eth)
            parts.push_back("original value");
        if (!std::equal(a.payload.begin(), a.payload.end(), b.payload.begin(), b.payload.end()))
            parts.push_back("payload");
        return fmt::format("{} {}", fmt::join(parts, ", "), parts.size() > 1 ? "differ" : "differs");
    }

    // Between two pairs: the peer's answers without a counterpart are held against ours that are most like
    // them, and what is left of ours is missing.
    void close_gap() {
        for (const std::size_t peer : std::exchange(gap_peers_, {}))
            judge_extra(peer);
        for (const std::size_t our : std::exchange(gap_ours_, {})) {
            const std::string why = missing_.explain(play_.answers[our]);
            findings_.push_back({why.empty() ? Verdict::different : Verdict::explained, our, std::nullopt,
                                 why.empty() ? "the peer did not answer" : why});
        }
        std::stable_sort(findings_.begin() + static_cast<std::ptrdiff_t>(sorted_), findings_.end(),
                         [this](const Finding& a, const Finding& b) { return place(a) < place(b); });
        sorted_ = findings_.size();
    }

    // Where a finding stands among the frames of the capture.
    std::size_t place(const Finding& finding) const {
        return finding.peers ? *finding.peers : play_.answers[*finding.ours].caused_by;
    }

    void judge_extra(std::size_t peer) {
        if (damaged(peer)) return;
        Finding finding;
        finding.peers = peers_[peer];
        if (play_.stop && peers_[peer] > play_.stop->at) {
            finding.verdict = Verdict::not_compared;
            finding.why = play_.stop->why;
        } else if (cut(peer)) {
            finding.verdict = Verdict::not_compared;
            finding.why = "the capture holds only the beginning of the peer's answer";
        } else if (const Deviation* deviation = find_deviation(file_, extra(peer))) {
            finding.verdict = Verdict::explained;
            finding.why = fmt::format("{}: {}", deviation->name, deviation->rule);
        } else {
            finding.verdict = Verdict::different;
            finding.ours = most_like(peer);
            finding.why = finding.ours ? describe_difference(ours(*finding.ours), peers(peer))
                                       : "the engine does not answer";
        }
        findings_.push_back(std::move(finding));
    }

    // Takes it out of the gap.
    std::optional<std::size_t> most_like(std::size_t peer) {
        const auto likeness = [&](std::size_t our) {
            const RocePacket& a = ours(our);
            const RocePacket& b = peers(peer);
            return 2 * (a.info == b.info) + (a.aeth == b.aeth) + (a.bth.psn == b.bth.psn);
        };
        const auto found =
            std::max_element(gap_ours_.begin(), gap_ours_.end(),
                             [&](std::size_t a, std::size_t b) { return likeness(a) < likeness(b); });
        if (found == gap_ours_.end() || play_.answers[*found].caused_by >= peers_[peer]) return std::nullopt;
        const std::size_t our = *found;
        gap_ours_.erase(found);
        return our;
    }

    bool ends_connection(const Finding& finding) const {
        if (finding.verdict == Verdict::equal || finding.verdict == Verdict::not_compared) return false;
        const bool missing = !finding.peers;
        if (missing && finding.verdict == Verdict::explained) return false;
        return (finding.ours && is_fatal(ours(*finding.ours))) ||
               (finding.peers && is_fatal(capture_[*finding.peers].packet.roce));
    }

    void end_after_fatal_difference() {
        const auto end = std::find_if(findings_.begin(), findings_.end(),
                                      [this](const Finding& finding) { return ends_connection(finding); });
        if (end == findings_.end()) return;
        for (auto rest = end + 1; rest != findings_.end(); ++rest) {
            rest->verdict = Verdict::not_compared;
            rest->why = "the connection had ended for one side only";
        }
    }

    const Capture& capture_;
    const ResponderSetup& setup_;
    const Play& play_;
    std::string_view file_;
    MissingAnswers missing_;
    std::vector<std::size_t> peers_;  // damaged ones included
    std::vector<std::size_t> gap_ours_;
    std::vector<std::size_t> gap_peers_;
    std::vector<Finding> findings_;
    std::size_t sorted_ = 0;
};

}  // namespace

std::vector<Finding> compare(const Capture& capture, const Connection& connection,
                             const ResponderSetup& setup, const Play& play, std::string_view file) {
    return Comparison(capture, connection, setup, play, file).run();
}

}  // namespace rocem::tools
