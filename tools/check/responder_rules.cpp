#include "tools/check/responder_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/syndrome.hpp"

namespace rocem::tools {

using protocol::Operation;
using protocol::Psn;
using protocol::Syndrome;

bool ResponderRules::belongs(const Sighting& answer, Place place) {
    if (!c_.requested || place < c_.base) return false;
    if (place < c_.top || c_.answered || c_.options.requests_complete()) return true;
    // The trace began inside a resend: what was sent before it reached further.
    const bool positive = Syndrome(answer.aeth.syndrome).kind() == Syndrome::Kind::ack;
    if (answer.info->operation != Operation::acknowledge || !positive) return false;
    c_.top = place + 1;
    c_.judged_from = std::max(c_.judged_from, c_.top);
    c_.log.force_delivered(c_.top);
    return true;
}

void ResponderRules::see_stranger(const Sighting& answer, Place place) {
    ++c_.report.counters.answers;
    const Syndrome syndrome(answer.aeth.syndrome);
    if (!c_.requested || answer.info->operation != Operation::acknowledge ||
        syndrome.kind() == Syndrome::Kind::ack) {
        return;
    }
    c_.remember(nak_of(answer, place));
}

SeenNak ResponderRules::nak_of(const Sighting& answer, Place place) const {
    const Syndrome syndrome(answer.aeth.syndrome);
    SeenNak nak;
    nak.place = place;
    nak.rnr = syndrome.kind() == Syndrome::Kind::rnr_nak;
    nak.time = answer.time;
    if (nak.rnr) nak.wait = protocol::rnr_timer(syndrome.code());
    nak.number = answer.number;
    nak.explains = c_.options.duplication ? 2 : 1;
    return nak;
}

void ResponderRules::see(const Sighting& answer, Place place) {
    ++c_.report.counters.answers;
    if (is_copy(answer, place)) {
        ++c_.report.counters.copies;
        return;
    }
    c_.last_activity = answer.time;
    if (c_.fatal && order_is_known()) {
        c_.find(Rule::answer_after_fatal_nak, {answer.number, c_.fatal->number},
                fmt::format("{} is answered after the fatal NAK of {}", psn_text(place),
                            psn_text(c_.fatal->place)));
        return;
    }
    if (answer.info->operation != Operation::acknowledge) {
        data(answer, place);
    } else if (Syndrome(answer.aeth.syndrome).kind() == Syndrome::Kind::ack) {
        acknowledge(answer, place);
    } else {
        refuse(answer, place);
    }
    c_.answered = true;
    c_.settle();
}

bool ResponderRules::is_copy(const Sighting& answer, Place place) {
    if (!c_.options.duplication || c_.options.answers_complete()) return false;
    const auto [found, is_new] = fingerprints_.emplace(answer.fingerprint, place);
    if (is_new) return false;
    const bool same = found->second == place;
    found->second = place;
    return same;
}

void ResponderRules::acknowledge(const Sighting& answer, Place place) {
    if (place >= c_.top) {
        c_.find(Rule::ack_beyond_sent, {answer.number},
                fmt::format("ACK of {}, the last one sent is {}", psn_text(place), psn_text(c_.top - 1)));
        return;
    }
    if (went_backwards(answer, place + 1)) return;
    const bool asked = c_.ack_requests != 0;
    if (asked) --c_.ack_requests;
    if (!asked && place + 1 <= c_.covered) {
        c_.find(Rule::ack_unasked, {answer.number},
                fmt::format("a duplicate is answered with an ACK of {}", psn_text(place)));
    }
    check_delivered(answer, place + 1);
    check_msn(answer, place + 1);
    data_.check_not_overtaken(answer, place);
    cover(answer, place + 1);
    c_.highest_acknowledge = std::max(c_.highest_acknowledge.value_or(place), place);
}

void ResponderRules::refuse(const Sighting& answer, Place place) {
    const Syndrome syndrome(answer.aeth.syndrome);
    if (place >= c_.top) {
        const bool sequence = syndrome == Syndrome::nak(protocol::NakCode::psn_sequence_error);
        c_.find(sequence ? Rule::nak_without_gap : Rule::ack_beyond_sent, {answer.number},
                fmt::format("NAK of {}, the last one sent is {}", psn_text(place), psn_text(c_.top - 1)));
        return;
    }
    if (went_backwards(answer, place)) return;
    if (syndrome.kind() == Syndrome::Kind::rnr_nak) {
        rnr_nak(answer, place);
    } else if (syndrome == Syndrome::nak(protocol::NakCode::psn_sequence_error)) {
        sequence_nak(answer, place);
    } else {
        fatal_nak(answer, place);
    }
    cover(answer, place);
    c_.highest_acknowledge = std::max(c_.highest_acknowledge.value_or(place - 1), place - 1);
}

void ResponderRules::sequence_nak(const Sighting& answer, Place place) {
    ++c_.report.counters.sequence_naks;
    const bool right = sequence_nak_is_right(answer, place);
    if (right) {
        check_delivered(answer, place);
        check_msn(answer, place);
        open_gap(answer, place);
    }
    const SeenNak nak = nak_of(answer, place);
    c_.remember(nak);
    last_sequence_nak_ = nak;
}

bool ResponderRules::sequence_nak_is_right(const Sighting& answer, Place place) {
    const bool again = last_sequence_nak_ && last_sequence_nak_->place == place;
    const bool after_rnr = last_rnr_nak_ && last_rnr_nak_->place == place &&
                           !(again && last_sequence_nak_->number > last_rnr_nak_->number);
    if (after_rnr && order_is_known()) {
        c_.find(Rule::nak_after_rnr_nak, {answer.number, last_rnr_nak_->number},
                fmt::format("sequence NAK of {} after its RNR NAK", psn_text(place)));
        return false;
    }
    if (again) {
        c_.find(Rule::second_nak, {answer.number, last_sequence_nak_->number},
                fmt::format("{} has had its NAK", psn_text(place)));
        return false;
    }
    if (place > c_.log.delivered()) {
        c_.find(Rule::nak_of_wrong_psn, {answer.number, c_.gap_frame},
                fmt::format("NAK of {}, the first lost one is {}", psn_text(place),
                            psn_text(c_.log.delivered())));
        c_.log.force_delivered(place);
        return false;
    }
    if (c_.highest_intact <= place) {
        c_.find(Rule::nak_without_gap, {answer.number},
                fmt::format("NAK of {}, and no request from behind it was seen", psn_text(place)));
        return false;
    }
    return true;
}

void ResponderRules::open_gap(const Sighting& answer, Place place) {
    Gap gap;
    gap.psn = psn_at(place);
    gap.nak_frame = answer.number;
    if (place == c_.log.delivered() && c_.gap_frame != 0) {
        gap.seen_frame = c_.gap_frame;
        gap.gap_to_nak = answer.time - c_.gap_time;
    } else if (const Sent* behind = c_.log.after(place)) {
        // It was seen, and lost behind the tap: the next one shows the gap.
        const Sent* lost = c_.log.last_sent(place);
        if (lost == nullptr || behind->last_order > lost->last_order) {
            gap.seen_frame = behind->last_number;
            gap.gap_to_nak = answer.time - behind->last_time;
        }
    }
    c_.report.gaps.push_back(gap);
}

void ResponderRules::rnr_nak(const Sighting& answer, Place place) {
    ++c_.report.counters.rnr_naks;
    check_delivered(answer, place + 1);
    check_msn(answer, place);
    const bool again = last_rnr_nak_ && last_rnr_nak_->place == place;
    rnr_naks_of_place_ = again ? rnr_naks_of_place_ + 1 : 1;
    const std::uint32_t copies = c_.options.duplication ? 2 : 1;
    const Sent* sent = c_.log.find(place);
    if (sent != nullptr && rnr_naks_of_place_ > sent->transmissions * copies) {
        c_.find(Rule::rnr_nak_again, {answer.number, last_rnr_nak_->number},
                fmt::format("RNR NAK number {} of {}, which was sent {} times", rnr_naks_of_place_,
                            psn_text(place), sent->transmissions));
    }
    const SeenNak nak = nak_of(answer, place);
    c_.remember(nak);
    last_rnr_nak_ = nak;
}

void ResponderRules::fatal_nak(const Sighting& answer, Place place) {
    ++c_.report.counters.fatal_naks;
    check_delivered(answer, place + 1);
    FatalNak fatal;
    fatal.place = place;
    fatal.time = answer.time;
    fatal.number = answer.number;
    c_.fatal = fatal;
}

void ResponderRules::data(const Sighting& answer, Place place) {
    if (place < c_.judged_from) {
        c_.cover(std::min(place + 1, c_.top));
        c_.highest_response = std::max(c_.highest_response.value_or(place), place);
        return;
    }
    const auto request = data_.request_of(answer, place);
    if (!request) return;
    check_delivered(answer, *request + 1);
    if (answer.info->has_aeth) check_msn(answer, *request + 1);
    const bool last = data_.see(answer, place, *request);
    // All before a READ is covered by its first response, the READ by its last.
    const Place behind = last ? place + 1 : *request;
    if (!least_expected_ || behind > least_expected_->place) least_expected_ = {behind, answer.number};
    c_.cover(place + 1);
    c_.highest_response = std::max(c_.highest_response.value_or(place), place);
}

void ResponderRules::cover(const Sighting& answer, Place behind) {
    if (!least_expected_ || behind > least_expected_->place) least_expected_ = {behind, answer.number};
    c_.cover(behind);
}

// Something before `behind` was never seen, or not again after its NAK: it cannot have arrived.
void ResponderRules::check_delivered(const Sighting& answer, Place behind) {
    const Place delivered = c_.log.delivered();
    if (behind > delivered) {
        c_.find(Rule::gap_acknowledged, {answer.number, c_.gap_frame},
                fmt::format("answers beyond {}, which has not been seen", psn_text(delivered)));
        c_.log.force_delivered(behind);
        c_.gap_frame = 0;
        return;
    }
    if (c_.options.reordering) return;
    for (Gap& gap : c_.open_gaps()) {
        const Place lost = place_of(gap.psn, behind);
        if (gap.repaired || lost >= behind || !gap.nak_frame || !gap.seen_frame) continue;
        // Was it on its way when the NAK was sent? Not if nothing from behind it was sent before.
        const Sent* sent = c_.log.last_sent(lost);
        const Sent* behind_it = c_.log.after(lost);
        if (sent == nullptr || behind_it == nullptr) continue;
        if (sent->last_order > behind_it->first_order || sent->last_number > *gap.seen_frame) continue;
        gap.repaired = true;
        c_.find(Rule::gap_acknowledged, {answer.number, *gap.nak_frame},
                fmt::format("answers beyond {}, which had a NAK and was not sent again", psn_text(lost)));
    }
}

bool ResponderRules::went_backwards(const Sighting& answer, Place behind) {
    if (!least_expected_ || behind >= least_expected_->place || !order_is_known()) return false;
    c_.find(Rule::ack_backwards, {answer.number, least_expected_->number},
            fmt::format("the answer covers up to {}, an earlier one up to {}", psn_text(behind - 1),
                        psn_text(least_expected_->place - 1)));
    return true;
}

// Messages completed lie between those that the answer covers and those that may have arrived.
void ResponderRules::check_msn(const Sighting& answer, Place behind) {
    if (behind <= c_.judged_from) return;
    const Psn msn(answer.aeth.msn.value());
    const std::uint32_t least = c_.log.messages_before(behind);
    const std::uint32_t most = std::max(least, c_.log.messages_before(c_.log.delivered()));
    if (!msn_base_) {
        const Psn origin = msn.minus(most);
        msn_base_ = {origin, 0, static_cast<std::int32_t>(most - least), answer.number};
        return;
    }
    const std::int32_t low = Psn::distance(msn_base_->origin, msn.minus(most));
    const std::int32_t high = Psn::distance(msn_base_->origin, msn.minus(least));
    if (low <= msn_base_->high && high >= msn_base_->low) {
        msn_base_->low = std::max(msn_base_->low, low);
        msn_base_->high = std::min(msn_base_->high, high);
        msn_base_->number = answer.number;
        return;
    }
    const auto expected = msn_base_->origin.plus(static_cast<std::uint32_t>(msn_base_->low) + least);
    c_.find(
        Rule::msn, {answer.number, msn_base_->number},
        fmt::format("msn {} where {} completed messages lead to {}", msn.value(), least, expected.value()));
    msn_base_->low = low;
    msn_base_->high = high;
    msn_base_->number = answer.number;
}

}  // namespace rocem::tools
