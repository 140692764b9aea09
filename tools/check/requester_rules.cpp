#include "tools/check/requester_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/check/mtu.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t retries_max = 7;  // retry_cnt has three bits
// The shortest T there is: 4.096 us * 2^1.
constexpr std::chrono::nanoseconds shortest_timeout{8192};

double milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

void RequesterRules::see(const Sighting& request, Place place) {
    if (!c_.requested) {
        if (!request.intact) return;
        begin(place);
    }
    if (is_copy(request, place)) {
        ++c_.report.counters.copies;
        arrive(request, place);
        return;
    }
    // The PSN of a damaged packet may be wrong: it counts as sent only where one is due.
    if (!request.intact && place != c_.position && nak_at(place, request.time) == nullptr) return;
    if (place > c_.position) forward(request, place);
    if (place < c_.position && !backward(request, place)) complain(request, place);
    if (c_.fatal) after_fatal_nak(request, place);

    const Place end = place + (request.intact ? psns_of(request, c_.mtu) : 1);
    const Sent* sent = c_.log.find(place);
    const bool is_new = sent == nullptr || sent->transmissions == 0;
    if (request.intact) content_.see(request, place, end);
    record(request, place, end);
    c_.position = end;
    c_.top = std::max(c_.top, end);
    if (is_new && request.intact) content_.see_outstanding(request, place);
    arrive(request, place);
    last_number_ = request.number;
    c_.last_activity = request.time;
}

void RequesterRules::begin(Place place) {
    c_.requested = true;
    c_.base = c_.position = c_.top = c_.covered = c_.highest_intact = place;
    c_.judged_from = c_.began_in_the_middle ? std::numeric_limits<Place>::max() : place;
    c_.log.start_at(place);
}

bool RequesterRules::is_copy(const Sighting& request, Place place) {
    if (!c_.options.duplication || c_.options.requests_complete()) return false;
    const Sent* sent = c_.log.find(place);
    return sent != nullptr && sent->last_fingerprint == request.fingerprint && request.intact;
}

// Past what answers covered in the meantime; or the tap did not see what is between.
void RequesterRules::forward(const Sighting& request, Place place) {
    if (c_.covered >= place) return;
    const Place from = std::max(c_.position, c_.covered);
    if (c_.options.requests_complete()) {
        c_.find(Rule::psn_jump, {request.number, last_number_},
                fmt::format("{} follows {}: {} PSNs are missing", psn_text(place), psn_text(c_.position - 1),
                            place - from));
        return;
    }
    c_.report.counters.lost_before_tap += static_cast<std::uint64_t>(place - from);
}

bool RequesterRules::backward(const Sighting& request, Place place) {
    if (c_.fatal && place <= c_.fatal->place) c_.fatal->gone_back = true;
    Reason reason = reason_for(request, place);
    if (reason == Reason::none) reason = reason_from_below(request, place);
    if (reason == Reason::none) return false;
    count(reason, request, place);
    return true;
}

RequesterRules::Reason RequesterRules::reason_for(const Sighting& request, Place place) {
    if (SeenNak* nak = nak_at(place, request.time)) {
        --nak->explains;
        return nak->rnr ? Reason::rnr : Reason::nak;
    }
    if (is_implied(place)) return Reason::implied;
    if (may_be_oldest_unacked(place) && timed_out(place, request.time)) {
        const SeenNak* rnr = early_rnr_nak(place, request.time);
        // T is not known: a wait that an RNR NAK forbids is no timeout, unless others were as short.
        if (rnr != nullptr && !c_.options.ack_timeout) {
            const Sent* sent = c_.log.last_sent(place);
            const auto shortest = c_.report.shortest_timeout;
            if (sent == nullptr || !shortest || request.time - sent->last_time < *shortest)
                return Reason::none;
        }
        return Reason::timeout;
    }
    return Reason::none;
}

// The resend began below: its first packets were lost before the tap, or were acknowledged before they could
// be sent again.
RequesterRules::Reason RequesterRules::reason_from_below(const Sighting& request, Place place) {
    if (early_rnr_nak(place, request.time) != nullptr) return Reason::none;
    const bool covered = c_.covered >= place;
    if (!covered && c_.options.requests_complete()) return Reason::none;
    const auto below = std::find_if(c_.naks.rbegin(), c_.naks.rend(), [&](const SeenNak& nak) {
        return nak.explains != 0 && nak.place < place &&
               request.time - nak.time + c_.options.slack >= nak.wait;
    });
    const Reason reason = covered ? Reason::covered : Reason::lost_before_tap;
    if (below != c_.naks.rend()) {
        --below->explains;
        return reason;
    }
    if (is_implied(place - 1) || (covered && was_implied_below(request, place))) return reason;
    // The oldest one that the requester must hold for unacknowledged, if it got every answer that was seen.
    const Place oldest = covered ? place - 1 : std::min(c_.covered, place);
    return oldest >= c_.base && timed_out(oldest, request.time) ? reason : Reason::none;
}

SeenNak* RequesterRules::nak_at(Place place, std::chrono::nanoseconds now) {
    SeenNak* plain = nullptr;
    for (SeenNak& nak : c_.naks) {
        if (nak.place != place || nak.explains == 0) continue;
        if (!nak.rnr) {
            plain = &nak;
        } else if (now - nak.time + c_.options.slack >= nak.wait) {
            return &nak;
        }
    }
    return plain;
}

const SeenNak* RequesterRules::early_rnr_nak(Place place, std::chrono::nanoseconds now) const {
    for (auto nak = c_.naks.rbegin(); nak != c_.naks.rend(); ++nak) {
        if (nak->rnr && nak->place == place && nak->explains != 0 &&
            now - nak->time + c_.options.slack < nak->wait) {
            return &*nak;
        }
    }
    return nullptr;
}

// A READ or an atomic that an answer from behind it has passed (5.9.6, 5.9.7).
bool RequesterRules::is_implied(Place place) const {
    const Sent* sent = c_.log.last_sent(place);
    if (sent == nullptr || !sent->has_data_answer()) return false;
    return (c_.highest_response && *c_.highest_response > place) ||
           (c_.highest_acknowledge && *c_.highest_acknowledge >= place);
}

// The answer that passed a READ or an atomic rewound the requester to it; what came right behind covered it,
// and the resend begins there. Both answers came within T of the request.
bool RequesterRules::was_implied_below(const Sighting& request, Place place) const {
    constexpr Place reach = 128;
    const auto t = c_.options.ack_timeout;
    const Sent* sent = c_.log.before(place);
    for (Place at = place; sent != nullptr && place - at < reach; sent = c_.log.before(at)) {
        if (sent->has_data_answer() && (!t || request.time - sent->last_time <= *t)) return true;
        at = place_of(sent->first.psn, at);
    }
    return false;
}

bool RequesterRules::timed_out(Place place, std::chrono::nanoseconds now) const {
    const Sent* sent = c_.log.last_sent(place);
    if (sent == nullptr) return !c_.options.requests_complete();  // never seen: nobody knows when it was sent
    const auto t = c_.options.ack_timeout.value_or(shortest_timeout);
    return t.count() != 0 && now - sent->last_time + c_.options.slack >= t;
}

// What a requester knows to be acknowledged was seen in answers. Before the first one, nothing is known.
bool RequesterRules::may_be_oldest_unacked(Place place) const {
    return place <= c_.covered || !c_.answered || !c_.options.requests_complete();
}

void RequesterRules::count(Reason reason, const Sighting& request, Place place) {
    ConnectionCounters& counters = c_.report.counters;
    switch (reason) {
        case Reason::nak:
            ++counters.packet_seq_err;
            break;
        case Reason::rnr:
            ++counters.rnr_nak_retry;
            break;
        case Reason::implied:
            ++counters.implied_nak_seq_err;
            break;
        case Reason::timeout:
            count_timeout(request, place);
            return;
        default:
            break;
    }
    timeouts_in_a_row_ = 0;
    if (reason == Reason::nak) mark_resent(request, place);
}

void RequesterRules::mark_resent(const Sighting& request, Place place) {
    for (Gap& gap : c_.open_gaps()) {
        if (gap.repaired || place_of(gap.psn, place) != place) continue;
        gap.resend_frame = request.number;
        gap.repaired = true;
        const auto nak = std::find_if(c_.naks.begin(), c_.naks.end(), [&](const SeenNak& seen) {
            return gap.nak_frame && seen.number == *gap.nak_frame;
        });
        if (nak != c_.naks.end()) gap.nak_to_resend = request.time - nak->time;
    }
}

void RequesterRules::count_timeout(const Sighting& request, Place place) {
    ++c_.report.counters.local_ack_timeout_err;
    if (const Sent* sent = c_.log.last_sent(place)) {
        const auto waited = request.time - sent->last_time;
        auto& shortest = c_.report.shortest_timeout;
        if (!shortest || waited < *shortest) shortest = waited;
        const auto idle = request.time - c_.last_activity;
        if (c_.options.ack_timeout && idle > 4 * *c_.options.ack_timeout + c_.options.slack) {
            c_.find(Rule::late_timeout, {request.number, sent->last_number},
                    fmt::format("{} was sent again {:.3f} ms after the last sign of life, T is {:.3f} ms",
                                psn_text(place), milliseconds(idle), milliseconds(*c_.options.ack_timeout)));
        }
    }
    timeouts_in_a_row_ = timeout_place_ == place ? timeouts_in_a_row_ + 1 : 1;
    timeout_place_ = place;
    // Without any answer the capture may hold one direction only, and then an RNR NAK is a reason, too.
    const bool judged = c_.answered || !accepted_as(Rule::retries_without_end, c_.options.profile).empty();
    if (timeouts_in_a_row_ == retries_max + 1 && judged) {
        c_.find(
            Rule::retries_without_end, {request.number},
            fmt::format("{} is sent for the {}th time without an answer", psn_text(place), retries_max + 2));
    }
}

void RequesterRules::complain(const Sighting& request, Place place) {
    const Sent* sent = c_.log.last_sent(place);
    const std::uint64_t before = sent == nullptr ? last_number_ : sent->last_number;
    if (const SeenNak* rnr = early_rnr_nak(place, request.time)) {
        c_.find(Rule::resend_before_rnr_timer, {request.number, rnr->number},
                fmt::format("{} was sent again {:.3f} ms after an RNR NAK of {:.2f} ms", psn_text(place),
                            milliseconds(request.time - rnr->time), milliseconds(rnr->wait)));
        return;
    }
    const auto pending = std::find_if(c_.naks.rbegin(), c_.naks.rend(),
                                      [](const SeenNak& nak) { return !nak.rnr && nak.explains != 0; });
    if (pending != c_.naks.rend()) {
        c_.find(Rule::resend_from_wrong_psn, {request.number, pending->number},
                fmt::format("resend from {}, the NAK names {}", psn_text(place), psn_text(pending->place)));
        pending->explains = 0;
        return;
    }
    const auto waited = sent == nullptr ? std::chrono::nanoseconds{} : request.time - sent->last_time;
    c_.find(Rule::resend_without_reason, {request.number, before},
            fmt::format("{} was sent again after {:.6f} ms, and no NAK names it", psn_text(place),
                        milliseconds(waited)));
}

// Who did not get the NAK goes back to it or before it after T, at latest after 4 T, and does not go on
// before.
void RequesterRules::after_fatal_nak(const Sighting& request, Place place) {
    FatalNak& fatal = *c_.fatal;
    if (fatal.gone_back || fatal.reported || place <= fatal.place) return;
    const auto since = request.time - fatal.time;
    const bool got_it = c_.options.tap == Tap::requester;
    const auto t = c_.options.ack_timeout;
    const bool overdue = t && t->count() != 0 && since > 4 * *t + c_.options.reaction;
    if (got_it || overdue) {
        fatal.reported = true;
        c_.find(Rule::request_after_fatal_nak, {request.number, fatal.number},
                fmt::format("{} was sent {:.3f} ms after the fatal NAK of {}", psn_text(place),
                            milliseconds(since), psn_text(fatal.place)));
    } else if (!t && c_.options.tap != Tap::senders && since > c_.options.reaction && !fatal.request_behind) {
        fatal.request_behind = request.number;  // a violation unless it goes back later
    }
}

void RequesterRules::record(const Sighting& request, Place place, Place end) {
    const auto read = c_.log.read_at(place);
    Sent& sent = c_.log.at(place, request, end);
    if (read && read->start < place && sent.is_read()) sent.resumes = read->start;
    sent.last_time = request.time;
    sent.last_number = request.number;
    sent.last_order = request.order;
    sent.last_fingerprint = request.fingerprint;
}

// At the responder, unless it is lost behind the tap.
void RequesterRules::arrive(const Sighting& request, Place place) {
    if (!request.intact) return;
    Sent* sent = c_.log.find(place);
    if (sent == nullptr) return;
    ++sent->transmissions;
    if (request.ack_request && !sent->has_data_answer()) ++c_.ack_requests;
    c_.highest_intact = std::max(c_.highest_intact, place);
    c_.log.advance();
    if (place > c_.log.delivered()) {
        ++c_.report.counters.out_of_sequence;
        if (c_.gap_frame == 0) {
            c_.gap_frame = request.number;
            c_.gap_time = request.time;
        }
    } else if (c_.log.delivered() > c_.highest_intact) {
        c_.gap_frame = 0;
    }
}

}  // namespace rocem::tools
