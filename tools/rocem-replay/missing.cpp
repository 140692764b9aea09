#include "tools/rocem-replay/missing.hpp"

#include <algorithm>

#include "protocol/syndrome.hpp"
#include "queue_engine/responder_checks.hpp"

namespace rocem::tools {
namespace {

using protocol::Operation;
using protocol::Psn;
using protocol::RocePacket;
using protocol::Syndrome;

bool is_positive(const RocePacket& roce) {
    return !roce.info->has_aeth || Syndrome(roce.aeth.syndrome).kind() == Syndrome::Kind::ack;
}

// Turns "at this frame" into "from this frame on".
void accumulate_from_the_end(std::map<std::size_t, Psn>& furthest) {
    const Psn* beyond = nullptr;
    for (auto entry = furthest.rbegin(); entry != furthest.rend(); ++entry) {
        if (beyond != nullptr && entry->second.precedes(*beyond)) entry->second = *beyond;
        beyond = &entry->second;
    }
}

}  // namespace

bool same_answer(const RocePacket& ours, const RocePacket& peers, protocol::Msn msn) {
    if (ours.info != peers.info || ours.bth.psn != peers.bth.psn) return false;
    if (ours.info->has_aeth) {
        if (ours.aeth.syndrome != peers.aeth.syndrome) return false;
        if (protocol::Msn(ours.aeth.msn.value() + msn.value()) != peers.aeth.msn) return false;
    }
    if (ours.info->has_atomic_ack_eth && ours.atomic_ack_eth != peers.atomic_ack_eth) return false;
    return std::equal(ours.payload.begin(), ours.payload.end(), peers.payload.begin(), peers.payload.end());
}

MissingAnswers::MissingAnswers(const Capture& capture, const Connection& connection,
                               const ResponderSetup& setup)
    : capture_(capture), setup_(setup) {
    for (const std::size_t at : connection.requests) {
        const RocePacket& roce = capture[at].packet.roce;
        const std::uint32_t count = engine::psns_of_request(roce, setup.mtu.bytes());
        furthest_[at] = roce.bth.psn.plus(count - 1);
        if (roce.info->operation == Operation::rdma_read_request) {
            reads_.push_back({at, roce.bth.psn, count});
        } else {
            last_request_by_psn_[roce.bth.psn.value()] = at;
        }
    }
    for (const std::size_t at : connection.answers) {
        if (capture[at].cut()) continue;
        const RocePacket& roce = capture[at].packet.roce;
        answers_by_psn_[roce.bth.psn.value()].push_back(at);
        furthest_[at] = roce.bth.psn;
        if (is_positive(roce)) acknowledged_[at] = roce.bth.psn;
    }
    accumulate_from_the_end(furthest_);
    accumulate_from_the_end(acknowledged_);
}

bool MissingAnswers::has_copy(const OurAnswer& answer) const {
    const RocePacket& ours = answer.packet.roce;
    const auto found = answers_by_psn_.find(ours.bth.psn.value());
    return found != answers_by_psn_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](std::size_t at) {
               return same_answer(ours, capture_[at].packet.roce, setup_.msn);
           });
}

// The requester did not get it: it sent the request once more.
bool MissingAnswers::asked_again(const OurAnswer& answer) const {
    const Psn psn = answer.packet.roce.bth.psn;
    const auto found = last_request_by_psn_.find(psn.value());
    if (found != last_request_by_psn_.end() && found->second > answer.caused_by) return true;
    for (auto read = reads_.rbegin(); read != reads_.rend() && read->at > answer.caused_by; ++read) {
        const std::int32_t offset = Psn::distance(read->psn, psn);
        if (offset >= 0 && static_cast<std::uint32_t>(offset) < read->psn_count) return true;
    }
    return false;
}

bool MissingAnswers::acknowledged_later(const OurAnswer& answer) const {
    const RocePacket& ours = answer.packet.roce;
    if (ours.info->operation != Operation::acknowledge || !is_positive(ours)) return false;
    const auto later = acknowledged_.upper_bound(answer.caused_by);
    return later != acknowledged_.end() && ours.bth.psn.precedes_or_equals(later->second);
}

bool MissingAnswers::nothing_passes(const OurAnswer& answer) const {
    const auto later = furthest_.upper_bound(answer.caused_by);
    return later == furthest_.end() || later->second.precedes_or_equals(answer.packet.roce.bth.psn);
}

std::string MissingAnswers::explain(const OurAnswer& answer) const {
    if (has_copy(answer)) return "another copy of the answer is in the capture";
    if (asked_again(answer)) return "a later request covers it: the requester did not get the answer";
    if (setup_.acks == AckHabit::coalesced && acknowledged_later(answer))
        return "a later answer covers it: this peer coalesces ACKs (rocev2 5.8.11)";
    if (setup_.answers_lost) return "the link before the capture loses answers";
    if (setup_.cut && nothing_passes(answer)) return "the capture is cut and nothing later passes its PSN";
    return "";
}

}  // namespace rocem::tools
