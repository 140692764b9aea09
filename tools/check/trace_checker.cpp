#include "tools/check/trace_checker.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/check/flows.hpp"
#include "tools/check/judge.hpp"

namespace rocem::tools {
namespace {

using protocol::Operation;
using protocol::Psn;
using protocol::Qpn;
using protocol::Service;

std::uint32_t read24(std::span<const std::byte> bytes, std::size_t at) {
    return std::to_integer<std::uint32_t>(bytes[at]) << 16 |
           std::to_integer<std::uint32_t>(bytes[at + 1]) << 8 | std::to_integer<std::uint32_t>(bytes[at + 2]);
}

// REQ and REP carry the QPN of their sender and the PSN that their receiver starts with (5.12).
std::optional<AnnouncedStart> announced_start(const protocol::Packet& packet, std::uint64_t order) {
    constexpr std::size_t mad_bytes = 256;
    constexpr std::size_t mad_header = 24;
    constexpr std::uint32_t cm_class = 0x07;
    constexpr std::uint32_t attribute_req = 0x0010;
    constexpr std::uint32_t attribute_rep = 0x0013;
    const auto mad = packet.roce.payload;
    if (packet.roce.bth.dest_qp != protocol::gsi_qpn || mad.size() < mad_bytes) return std::nullopt;
    if (std::to_integer<std::uint32_t>(mad[1]) != cm_class) return std::nullopt;
    const std::uint32_t attribute = read24(mad, 16) >> 8;
    if (attribute != attribute_req && attribute != attribute_rep) return std::nullopt;
    const bool is_req = attribute == attribute_req;
    AnnouncedStart start;
    start.requests.source = protocol::destination_gid(packet);
    start.requests.destination = protocol::source_gid(packet);
    start.requests.qpn = Qpn(read24(mad, mad_header + (is_req ? 32 : 12)));
    start.psn = Psn(read24(mad, mad_header + (is_req ? 44 : 20)));
    start.order = order;
    return start;
}

// UC: nothing is wrong about a gap.
ConnectionReport describe_uc(const Flow& flow) {
    ConnectionReport report;
    report.requester = flow.key.source;
    report.responder = flow.key.destination;
    report.responder_qpn = flow.key.qpn;
    report.service = Service::uc;
    report.first_frame = flow.frames.front().number;
    report.last_frame = flow.frames.back().number;
    std::optional<Psn> next;
    for (const Sighting& frame : flow.frames) {
        ++report.counters.requests;
        if (!frame.intact) {
            ++report.counters.icrc_errors;
            continue;
        }
        if (frame.info->ends_message()) ++report.counters.messages;
        if (next && next->precedes(frame.psn)) {
            report.counters.lost_before_tap += static_cast<std::uint64_t>(Psn::distance(*next, frame.psn));
        }
        next = frame.psn.next();
    }
    return report;
}

// The answers go to a queue pair that is sent UC requests, too, or name a PSN of UC requests the other way.
bool answers_unreliable(const Flow& answers, const Flow& requests) {
    if (answers.key == requests.key) return true;
    if (answers.key.source != requests.key.destination || answers.key.destination != requests.key.source)
        return false;
    const Psn psn = answers.frames.front().psn;
    return requests.frames.front().psn.precedes_or_equals(psn) &&
           psn.precedes_or_equals(requests.frames.back().psn);
}

}  // namespace

struct TraceChecker::Trace {
    std::uint64_t frames = 0;
    std::uint64_t datagrams = 0;
    std::uint64_t cnps = 0;
    Flows requests;
    Flows answers;
    Flows unreliable;
    std::vector<AnnouncedStart> starts;
};

TraceChecker::TraceChecker(const CheckOptions& options)
    : options_(options), trace_(std::make_unique<Trace>()) {}
TraceChecker::~TraceChecker() = default;
TraceChecker::TraceChecker(TraceChecker&&) noexcept = default;
TraceChecker& TraceChecker::operator=(TraceChecker&&) noexcept = default;

void TraceChecker::see_other() {
    ++trace_->frames;
}

void TraceChecker::see(std::chrono::nanoseconds time, const protocol::Packet& packet, std::uint64_t number) {
    const std::uint64_t order = ++trace_->frames;
    if (!packet.is_roce() || packet.roce.info == nullptr) return;
    const protocol::OpcodeInfo& info = *packet.roce.info;
    if (info.service == Service::ud) {
        ++trace_->datagrams;
        if (const auto start = announced_start(packet, order)) trace_->starts.push_back(*start);
        return;
    }
    if (info.operation == Operation::cnp) {
        ++trace_->cnps;
        return;
    }
    Flows* flows = &trace_->requests;
    if (info.service == Service::uc) {
        flows = &trace_->unreliable;
    } else if (!info.is_request) {
        flows = &trace_->answers;
    }
    const FlowKey key{protocol::source_gid(packet), protocol::destination_gid(packet),
                      packet.roce.bth.dest_qp};
    flows->add(key, Sighting::of(packet, time, number, order));
}

Report TraceChecker::finish() {
    const std::unique_ptr<Trace> trace = std::exchange(trace_, std::make_unique<Trace>());
    Report report;
    report.profile = options_.profile;
    report.frames = trace->frames;
    report.datagrams = trace->datagrams;
    report.cnps = trace->cnps;
    const Streams streams = pair_flows(trace->requests.take(), trace->answers.take());
    for (const Stream& stream : streams.list) {
        std::vector<ConnectionReport> connections = judge(stream, trace->starts, options_);
        std::move(connections.begin(), connections.end(), std::back_inserter(report.connections));
    }
    const std::vector<Flow> unreliable = trace->unreliable.take();
    for (const Flow& flow : unreliable)
        report.connections.push_back(describe_uc(flow));
    for (const Flow& flow : streams.answers_left) {
        report.answers_without_requests += flow.frames.size();
        const auto uc = std::find_if(unreliable.begin(), unreliable.end(), [&](const Flow& requests) {
            return answers_unreliable(flow, requests);
        });
        if (uc == unreliable.end()) continue;
        report.findings.push_back({Rule::answer_on_uc,
                                   {flow.frames.front().number, uc->frames.front().number},
                                   "a UC queue pair is sent an answer",
                                   !accepted_as(Rule::answer_on_uc, options_.profile).empty()});
    }
    std::stable_sort(
        report.connections.begin(), report.connections.end(),
        [](const ConnectionReport& a, const ConnectionReport& b) { return a.first_frame < b.first_frame; });
    return report;
}

}  // namespace rocem::tools
