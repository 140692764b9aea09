#include "tests/scenario/trace_rules.hpp"

#include <map>
#include <optional>
#include <set>

namespace rocem::test {
namespace {

class Judge {
 public:
    Judge(std::uint32_t mtu, engine::Duration ack_timeout) : mtu_(mtu), ack_timeout_(ack_timeout) {}

    void request(const Sighting& sighting) {
        const std::int32_t psn = sighting.psn;
        if (psn != next_) {
            if (!may_go_back_to(sighting)) complain(sighting, "starts a resend without a reason");
            // One NAK explains one going back; those before this PSN are explained by it, too.
            const auto here = naked_.lower_bound(psn);
            if (here != naked_.begin()) {
                naked_.erase(naked_.begin(), here);
            } else if (here != naked_.end() && *here == psn) {
                naked_.erase(here);
            }
        }
        const bool answered = answered_with_data(sighting.packet.opcode);
        if (answered) data_requests_[psn] = psn + consumed(sighting.packet);
        last_sent_[psn] = sighting.time;
        next_ = psn + consumed(sighting.packet);
    }

    void answer(const Sighting& sighting) {
        const RocePacket& packet = sighting.packet;
        const std::int32_t psn = sighting.psn;
        if (packet.is_nak() && packet.syndrome == syndrome_psn_sequence) {
            if (last_nak_ && psn <= *last_nak_) complain(sighting, "is a second NAK for one gap");
            last_nak_ = psn;
        }
        if (packet.is_nak() || packet.is_rnr_nak()) {
            naked_.insert(psn);
            if (sighting.fate == Fate::duplicated) naked_.insert(psn);
        }
        // Data that comes late or never is passed by a later answer: an implied NAK (5.9.6, 5.9.7).
        const bool data = packet.is_read_response() || packet.opcode == Op::atomic_acknowledge;
        const bool overtaken = highest_answer_ && psn < *highest_answer_;
        const bool arrives = sighting.fate == Fate::delivered || sighting.fate == Fate::duplicated;
        if (data && (overtaken || !arrives)) naked_.insert(psn);
        if (packet.is_positive_ack()) {
            if (covered_ && psn < *covered_) complain(sighting, "covers less than an ACK before it");
            covered_ = psn;
        }
        if (!highest_answer_ || psn > *highest_answer_) highest_answer_ = psn;
    }

    std::string complaints;

 private:
    static bool answered_with_data(Op opcode) {
        return opcode == Op::read_request || opcode == Op::compare_swap || opcode == Op::fetch_add;
    }

    std::int32_t consumed(const RocePacket& packet) const {
        if (packet.opcode != Op::read_request || packet.dma_length == 0) return 1;
        return static_cast<std::int32_t>((packet.dma_length + mtu_ - 1) / mtu_);
    }

    bool may_go_back_to(const Sighting& sighting) const {
        const std::int32_t psn = sighting.psn;
        // Forward: past what an answer has covered in the meantime.
        const bool covered = highest_answer_ && *highest_answer_ >= psn - 1;
        if (psn > next_) return covered;
        if (naked_.count(psn) != 0) return true;
        // Back to an earlier PSN, which was acknowledged before it could be sent again.
        if (covered && !naked_.empty() && *naked_.begin() < psn) return true;
        const auto before = last_sent_.find(psn - 1);
        if (covered && before != last_sent_.end() && sighting.time - before->second >= ack_timeout_)
            return true;
        if (was_passed(psn, sighting.time)) return true;
        if (covered && was_passed(psn - 1, sighting.time)) return true;
        const auto sent = last_sent_.find(psn);
        return sent != last_sent_.end() && sighting.time - sent->second >= ack_timeout_;
    }

    // A READ, whole or from a gap, or an atomic that something answered beyond, or that was sent T ago.
    bool was_passed(std::int32_t psn, engine::Time now) const {
        const auto after = data_requests_.upper_bound(psn);
        if (after == data_requests_.begin()) return false;
        const auto& [first, end] = *std::prev(after);
        if (psn >= end) return false;
        return (highest_answer_ && *highest_answer_ >= psn) || now - last_sent_.at(first) >= ack_timeout_;
    }

    void complain(const Sighting& sighting, const char* what) {
        complaints += describe(sighting) + " " + what + "\n";
    }

    std::uint32_t mtu_;
    engine::Duration ack_timeout_;
    std::int32_t next_ = 0;
    std::map<std::int32_t, engine::Time> last_sent_;
    std::map<std::int32_t, std::int32_t> data_requests_;  // first PSN, end of the half-open range
    std::multiset<std::int32_t> naked_;                   // one for each NAK on its way
    std::optional<std::int32_t> last_nak_;
    std::optional<std::int32_t> covered_;
    std::optional<std::int32_t> highest_answer_;
};

}  // namespace

std::string judge_trace(const std::vector<Sighting>& log, unsigned flow, Side requester, std::uint32_t mtu,
                        engine::Duration ack_timeout) {
    Judge judge(mtu, ack_timeout);
    for (const Sighting& sighting : log) {
        if (sighting.flow != flow) continue;
        const bool response = sighting.packet.is_response();
        if (sighting.from == requester && !response) judge.request(sighting);
        if (sighting.from == other(requester) && response) judge.answer(sighting);
    }
    return judge.complaints;
}

}  // namespace rocem::test
