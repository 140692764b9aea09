#include "tools/check/message_log.hpp"

#include <algorithm>
#include <iterator>

namespace rocem::tools {

using protocol::Operation;
using protocol::Psn;

Psn psn_at(Place place) {
    return Psn(static_cast<std::uint32_t>(place & Psn::mask));
}

Place place_of(Psn psn, Place near) {
    return near + Psn::distance(psn_at(near), psn);
}

bool Sent::has_data_answer() const {
    switch (first.info->operation) {
        case Operation::rdma_read_request:
        case Operation::compare_swap:
        case Operation::fetch_add:
        case Operation::flush:
        case Operation::atomic_write:
            return true;
        default:
            return false;
    }
}

Sent& MessageLog::at(Place place, const Sighting& sighting, Place end) {
    const auto [found, is_new] = sent_.try_emplace(place);
    if (is_new) found->second.first_order = sighting.order;
    // What a damaged packet said does not count.
    if (is_new || (found->second.transmissions == 0 && sighting.intact)) {
        found->second.first = sighting;
        found->second.end = end;
    }
    return found->second;
}

Sent* MessageLog::find(Place place) {
    const auto found = sent_.find(place);
    return found == sent_.end() ? nullptr : &found->second;
}

std::optional<MessageLog::ReadAt> MessageLog::read_at(Place place) {
    auto after = sent_.upper_bound(place);
    if (after == sent_.begin()) return std::nullopt;
    auto found = std::prev(after);
    if (!found->second.is_read() || found->second.end <= place) return std::nullopt;
    if (found->second.resumes) {
        const auto whole = sent_.find(*found->second.resumes);
        if (whole != sent_.end()) found = whole;
    }
    return ReadAt{found->first, &found->second};
}

const Sent* MessageLog::last_sent(Place place) const {
    const auto after = sent_.upper_bound(place);
    if (after == sent_.begin()) return nullptr;
    const auto nearest = std::prev(after);
    if (nearest->second.end <= place) return nullptr;
    const Sent* latest = &nearest->second;
    if (!nearest->second.resumes) return latest;
    // A READ that was resumed: any of its requests may have asked for this place last.
    for (auto at = sent_.find(*nearest->second.resumes); at != after && at != sent_.end(); ++at) {
        if (at->second.end > place && at->second.last_order > latest->last_order) latest = &at->second;
    }
    return latest;
}

const Sent* MessageLog::after(Place place) const {
    const auto found = sent_.upper_bound(place);
    return found == sent_.end() ? nullptr : &found->second;
}

const Sent* MessageLog::before(Place place) const {
    const auto found = sent_.lower_bound(place);
    if (found == sent_.begin()) return nullptr;
    const Sent& previous = std::prev(found)->second;
    return previous.end == place ? &previous : nullptr;
}

void MessageLog::advance() {
    for (auto at = sent_.find(delivered_); at != sent_.end() && at->second.transmissions != 0;
         at = sent_.find(delivered_)) {
        delivered_ = at->second.end;
    }
}

void MessageLog::force_delivered(Place place) {
    if (place <= delivered_) return;
    const auto read = read_at(place);
    delivered_ = read && read->start < place ? read->sent->end : place;
    advance();
}

std::uint32_t MessageLog::messages_before(Place place) const {
    return static_cast<std::uint32_t>(std::lower_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
}

void MessageLog::complete_message(Place place) {
    const auto where = std::lower_bound(ends_.begin(), ends_.end(), place);
    if (where == ends_.end() || *where != place) ends_.insert(where, place);
}

}  // namespace rocem::tools
