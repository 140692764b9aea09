#include "tools/check/data_answer_rules.hpp"

#include <fmt/format.h>

namespace rocem::tools {

using protocol::Operation;
using protocol::Position;

std::optional<Place> DataAnswerRules::request_of(const Sighting& answer, Place place) {
    const Sent* sent = c_.log.find(place);
    if (answer.info->operation == Operation::atomic_acknowledge) {
        if (sent != nullptr && sent->first.info->has_atomic_eth) return place;
        c_.find(Rule::atomic_unasked, {answer.number}, fmt::format("{} is no atomic's", psn_text(place)));
        return std::nullopt;
    }
    if (const auto read = c_.log.read_at(place)) return read->start;
    // FLUSH and atomic WRITE are answered by a READ response without payload.
    if (sent != nullptr && sent->has_data_answer() && !sent->first.info->has_atomic_eth &&
        answer.info->position == Position::only) {
        return place;
    }
    c_.find(Rule::read_response_unasked, {answer.number}, fmt::format("{} is no READ's", psn_text(place)));
    return std::nullopt;
}

bool DataAnswerRules::see(const Sighting& answer, Place place, Place request) {
    const Sent* sent = c_.log.find(request);
    if (answer.info->operation == Operation::atomic_acknowledge) check_atomic(answer, place);
    if (sent == nullptr || !sent->is_read()) {
        c_.unanswered.erase(request);
        return true;
    }
    if (c_.mtu_known || sent->end == request + 1) {
        check_length(answer, place, request, *sent);
        check_position(answer, place, request, *sent);
    }
    check_contiguous(answer, place);
    auto [progress, is_new] = c_.reads.try_emplace(request);
    if (is_new) progress->second.first_missing = request;
    progress->second.see(place);
    previous_response_ = place;
    previous_number_ = answer.number;
    if (place + 1 != sent->end) return false;
    c_.unanswered.erase(request);
    return true;
}

void DataAnswerRules::check_atomic(const Sighting& answer, Place place) {
    const auto [saved, is_new] = originals_.try_emplace(place, Saved{answer.original, answer.number});
    if (is_new || saved->second.original == answer.original) return;
    c_.find(Rule::atomic_replay_changed, {answer.number, saved->second.number},
            fmt::format("{} is answered {:#x}, before it was {:#x}", psn_text(place), answer.original,
                        saved->second.original));
}

void DataAnswerRules::check_length(const Sighting& answer, Place place, Place start, const Sent& read) {
    const std::uint64_t whole = read.first.reth.dma_length;
    const std::uint64_t before = static_cast<std::uint64_t>(place - start) * c_.mtu;
    const std::uint64_t due = place + 1 == read.end ? whole - before : c_.mtu;
    if (answer.payload_bytes == due) return;
    c_.find(Rule::read_response_length, {answer.number, read.first.number},
            fmt::format("{} carries {} bytes, {} are due", psn_text(place), answer.payload_bytes, due));
}

// A request may begin here (FIRST, ONLY), or before (MIDDLE, LAST); both if the READ was asked for again from
// here.
void DataAnswerRules::check_position(const Sighting& answer, Place place, Place start, const Sent& read) {
    const Position position = answer.info->position;
    const bool begins = position == Position::first || position == Position::only;
    const bool ends = position == Position::last || position == Position::only;
    const bool asked_from_here = c_.log.find(place) != nullptr;
    const bool asked_from_before = place > start;
    if (ends != (place + 1 == read.end) || !(begins ? asked_from_here : asked_from_before)) {
        c_.find(Rule::read_response_opcode, {answer.number, read.first.number},
                fmt::format("{} is {}, the READ is {} to {}", psn_text(place), answer.info->name,
                            psn_text(start), psn_text(read.end - 1)));
        return;
    }
    const bool goes_on = previous_response_ && *previous_response_ + 1 == place;
    if (begins || goes_on || !asked_from_here) return;
    // A response that was lost before the tap may be what this one goes on from.
    if (c_.options.answers_complete() ||
        !accepted_as(Rule::read_resumed_with_middle, c_.options.profile).empty()) {
        c_.find(
            Rule::read_resumed_with_middle, {answer.number, c_.log.find(place)->last_number},
            fmt::format("{} begins the answer to a re-READ and is {}", psn_text(place), answer.info->name));
    }
}

void DataAnswerRules::check_contiguous(const Sighting& answer, Place place) {
    if (!c_.options.answers_complete() || !previous_response_) return;
    if (place == *previous_response_ + 1 || c_.log.find(place) != nullptr) return;
    c_.find(Rule::read_response_gap, {answer.number, previous_number_},
            fmt::format("{} follows {}", psn_text(place), psn_text(*previous_response_)));
}

void DataAnswerRules::check_not_overtaken(const Sighting& ack, Place place) {
    if (!c_.options.answers_complete() || c_.unanswered.empty()) return;
    const Place oldest = *c_.unanswered.begin();
    if (oldest > place || oldest >= c_.log.delivered()) return;
    c_.find(Rule::ack_before_read_response, {ack.number, c_.log.find(oldest)->first.number},
            fmt::format("{} is acknowledged before {} is answered", psn_text(place), psn_text(oldest)));
}

}  // namespace rocem::tools
