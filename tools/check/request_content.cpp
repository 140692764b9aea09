#include "tools/check/request_content.hpp"

#include <fmt/format.h>

namespace rocem::tools {
namespace {

using protocol::Operation;
using protocol::Position;

bool continues(Position position) {
    return position == Position::first || position == Position::middle;
}

bool moves_payload(const Sighting& request) {
    return request.info->operation == Operation::send || request.info->operation == Operation::rdma_write;
}

bool same_request(const Sighting& a, const Sighting& b) {
    return a.info == b.info && a.payload_bytes == b.payload_bytes && a.reth == b.reth && a.atomic == b.atomic;
}

}  // namespace

void RequestContent::see(const Sighting& request, Place place, Place end) {
    if (const Sent* sent = c_.log.find(place); sent != nullptr && sent->transmissions != 0) {
        see_again(request, place, *sent);
        return;
    }
    if (const auto read = c_.log.read_at(place); read && read->start < place) {
        see_reread(request, place, read->start, *read->sent);
        return;
    }
    check_order(request, place);
    check_payload(request, place);
    check_reth(request, place);
    if (request.info->ends_message()) {
        ++c_.report.counters.messages;
        // What was delivered before the trace is in the MSNs already.
        if (place >= c_.log.delivered()) c_.log.complete_message(place);
        if (moves_payload(request) && !request.ack_request) {
            c_.find(Rule::ack_request_missing, {request.number},
                    fmt::format("{} ends a message without AckReq", psn_text(place)));
        }
    }
    if (end > c_.log.delivered() && place < c_.log.delivered()) c_.log.force_delivered(end);
}

void RequestContent::see_again(const Sighting& request, Place place, const Sent& sent) {
    if (same_request(request, sent.first)) return;
    c_.find(Rule::resend_changed, {request.number, sent.first.number},
            fmt::format("{} is {} of {} bytes, it was {} of {} bytes", psn_text(place), request.info->name,
                        request.payload_bytes, sent.first.info->name, sent.first.payload_bytes));
}

// A READ from the gap (5.9.7): what came before it is neither asked for again nor left out.
void RequestContent::see_reread(const Sighting& request, Place place, Place start, const Sent& read) {
    if (!c_.mtu_known || start < c_.judged_from) return;
    const std::uint64_t come = static_cast<std::uint64_t>(place - start) * c_.mtu;
    const protocol::Reth& whole = read.first.reth;
    if (request.info != read.first.info) {
        c_.find(Rule::resend_changed, {request.number, read.first.number},
                fmt::format("{} belongs to a READ and is {}", psn_text(place), request.info->name));
    } else if (request.reth.va != whole.va + come || request.reth.dma_length + come != whole.dma_length) {
        c_.find(Rule::reread_wrong, {request.number, read.first.number},
                fmt::format("{} asks for va {:#x} length {}, the rest of the READ is va {:#x} length {}",
                            psn_text(place), request.reth.va, request.reth.dma_length, whole.va + come,
                            whole.dma_length - come));
    }
    if (!c_.answered) return;  // the trace may hold one direction only
    // Whatever the tap, the requester got no response that was not seen.
    const auto progress = c_.reads.find(start);
    const Place missing = progress == c_.reads.end() ? start : progress->second.first_missing;
    if (place > missing) {
        c_.find(Rule::reread_skips, {request.number, read.first.number},
                fmt::format("the READ goes on from {}, the response {} has not been seen", psn_text(place),
                            psn_text(missing)));
    }
}

void RequestContent::check_order(const Sighting& request, Place place) {
    const Sent* before = c_.log.before(place);
    if (before == nullptr || before->transmissions == 0) return;
    const protocol::OpcodeInfo& was = *before->first.info;
    const protocol::OpcodeInfo& is = *request.info;
    const bool right = continues(was.position) ? !is.starts_message() && is.operation == was.operation &&
                                                     is.service == was.service
                                               : is.starts_message();
    if (right) return;
    c_.find(Rule::opcode_sequence, {request.number, before->first.number},
            fmt::format("{} is {} behind {}", psn_text(place), is.name, was.name));
}

void RequestContent::check_payload(const Sighting& request, Place place) {
    if (!c_.mtu_known || !moves_payload(request)) return;
    const std::uint32_t bytes = request.payload_bytes;
    if (request.info->position == Position::only) {
        if (bytes > c_.mtu) {
            c_.find(Rule::only_above_mtu, {request.number},
                    fmt::format("{} carries {} bytes, the MTU is {}", psn_text(place), bytes, c_.mtu));
        }
        return;
    }
    const bool right = continues(request.info->position) ? bytes == c_.mtu : bytes >= 1 && bytes <= c_.mtu;
    if (right) return;
    c_.find(Rule::payload_length, {request.number},
            fmt::format("{} is {} of {} bytes, the MTU is {}", psn_text(place), request.info->name, bytes,
                        c_.mtu));
}

void RequestContent::check_reth(const Sighting& request, Place place) {
    if (request.info->operation != Operation::rdma_write || !request.info->ends_message()) return;
    std::uint64_t sum = request.payload_bytes;
    const Sighting* first = &request;
    for (Place at = place; !first->info->starts_message(); --at) {
        const Sent* before = c_.log.before(at);
        if (before == nullptr || before->transmissions == 0 ||
            before->first.info->operation != Operation::rdma_write) {
            return;
        }
        first = &before->first;
        if (first->info->ends_message() && !first->info->starts_message()) return;  // another message's end
        sum += first->payload_bytes;
    }
    if (first->reth.dma_length == sum) return;
    c_.find(Rule::reth_length, {request.number, first->number},
            fmt::format("the WRITE that ends with {} carries {} bytes, its RETH says {}", psn_text(place),
                        sum, first->reth.dma_length));
}

void RequestContent::see_outstanding(const Sighting& request, Place place) {
    const Sent* sent = c_.log.find(place);
    if (place < c_.judged_from || sent == nullptr || sent->resumes || !sent->has_data_answer()) return;
    c_.unanswered.insert(place);
    const auto limit = c_.options.max_rd_atomic;
    if (limit && c_.unanswered.size() > *limit) {
        c_.find(Rule::too_many_outstanding, {request.number},
                fmt::format("{} is one of {} READs and atomics without answer, {} may be", psn_text(place),
                            c_.unanswered.size(), *limit));
    }
}

}  // namespace rocem::tools
