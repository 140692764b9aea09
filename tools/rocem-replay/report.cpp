#include "tools/rocem-replay/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "protocol/print.hpp"

namespace rocem::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string_view verdict_word(Verdict verdict) {
    switch (verdict) {
        case Verdict::equal:
            return "equal";
        case Verdict::different:
            return "different";
        case Verdict::explained:
            return "explained";
        case Verdict::not_compared:
            return "not compared";
    }
    return "";
}

std::string address_text(const protocol::Gid& gid) {
    return gid.is_ipv4_mapped() ? gid.as_ipv4().to_string() : gid.as_ipv6().to_string();
}

std::string title(const ReplayedConnection& replayed) {
    const Connection& connection = replayed.connection;
    const std::string answers = connection.requester_qpn
                                    ? fmt::format("{} answers to qp {:#x}", connection.answers.size(),
                                                  connection.requester_qpn->value())
                                    : "no answers";
    return fmt::format("connection {} > {} qp {:#x}: {} requests, {}, MTU {}",
                       address_text(connection.requester), address_text(connection.responder),
                       connection.responder_qpn.value(), replayed.play.requests, answers,
                       replayed.setup.mtu.bytes());
}

// Facts about the whole connection, a phrase each.
std::vector<std::string> remarks(const ReplayedConnection& replayed) {
    std::vector<std::string> lines;
    if (!replayed.setup.inferred.empty())
        lines.push_back(
            fmt::format("inferred from the capture: {}", fmt::join(replayed.setup.inferred, ", ")));
    if (replayed.connection.damaged_requests != 0)
        lines.push_back(fmt::format("{} requests with a wrong ICRC are not played",
                                    replayed.connection.damaged_requests));
    if (!replayed.connection.damaged_answers.empty())
        lines.push_back(
            fmt::format("{} answers have a wrong ICRC", replayed.connection.damaged_answers.size()));
    if (replayed.play.refused != 0)
        lines.push_back(fmt::format("{} requests are refused by the receive checks", replayed.play.refused));
    if (replayed.play.stop) lines.push_back("not compared from there on: " + replayed.play.stop->why);
    return lines;
}

std::string ours_text(const ReplayedConnection& replayed, const Finding& finding) {
    return finding.ours ? protocol::print(replayed.play.answers[*finding.ours].packet.roce) : "nothing";
}

std::string peers_text(const Capture& capture, const Finding& finding) {
    if (!finding.peers) return "nothing";
    return fmt::format("{} (frame {})", protocol::print(capture[*finding.peers].packet.roce),
                       capture[*finding.peers].number);
}

// The request that the engine answered, or nothing.
const ReplayFrame* request_of(const Capture& capture, const ReplayedConnection& replayed,
                              const Finding& finding) {
    return finding.ours ? &capture[replayed.play.answers[*finding.ours].caused_by] : nullptr;
}

void print_finding(std::ostream& out, const Capture& capture, const ReplayedConnection& replayed,
                   const Finding& finding) {
    out << "  " << verdict_word(finding.verdict);
    if (!finding.why.empty()) out << ": " << finding.why;
    out << '\n';
    if (const ReplayFrame* request = request_of(capture, replayed, finding))
        out << fmt::format("    request {} (frame {})\n", protocol::print(request->packet.roce),
                           request->number);
    out << "    peer    " << peers_text(capture, finding) << '\n';
    out << "    engine  " << ours_text(replayed, finding) << '\n';
}

// A line for each reason, with the number of answers that it stands for.
void print_reasons(std::ostream& out, const std::vector<Finding>& findings, Verdict verdict) {
    std::vector<std::pair<std::string, std::size_t>> reasons;
    for (const Finding& finding : findings) {
        if (finding.verdict != verdict) continue;
        const auto found = std::find_if(reasons.begin(), reasons.end(),
                                        [&](const auto& reason) { return reason.first == finding.why; });
        if (found == reasons.end()) {
            reasons.emplace_back(finding.why, 1);
        } else {
            ++found->second;
        }
    }
    for (const auto& [why, count] : reasons)
        out << fmt::format("  {} {}: {}\n", count, verdict_word(verdict), why);
}

void print_connection(std::ostream& out, const Capture& capture, const ReplayedConnection& replayed,
                      bool verbose) {
    out << title(replayed) << '\n';
    for (const std::string& remark : remarks(replayed))
        out << "  " << remark << '\n';
    for (const Finding& finding : replayed.findings) {
        if (verbose || finding.verdict == Verdict::different) print_finding(out, capture, replayed, finding);
    }
    if (verbose) return;
    print_reasons(out, replayed.findings, Verdict::explained);
    print_reasons(out, replayed.findings, Verdict::not_compared);
}

Json finding_json(const Capture& capture, const ReplayedConnection& replayed, const Finding& finding) {
    Json json;
    json["verdict"] = verdict_word(finding.verdict);
    if (!finding.why.empty()) json["why"] = finding.why;
    if (const ReplayFrame* request = request_of(capture, replayed, finding))
        json["request"] = {{"frame", request->number}, {"packet", protocol::print(request->packet.roce)}};
    if (finding.peers) {
        const ReplayFrame& frame = capture[*finding.peers];
        json["peer"] = {{"frame", frame.number}, {"packet", protocol::print(frame.packet.roce)}};
    }
    if (finding.ours) json["engine"] = {{"packet", ours_text(replayed, finding)}};
    return json;
}

Json connection_json(const Capture& capture, const ReplayedConnection& replayed, bool verbose) {
    const Connection& connection = replayed.connection;
    Json json;
    json["requester"] = address_text(connection.requester);
    json["responder"] = address_text(connection.responder);
    json["responder_qpn"] = connection.responder_qpn.value();
    if (connection.requester_qpn) json["requester_qpn"] = connection.requester_qpn->value();
    json["mtu"] = replayed.setup.mtu.bytes();
    json["inferred"] = replayed.setup.inferred;
    json["remarks"] = remarks(replayed);
    json["summary"] = counts_json(replayed.counts());
    json["findings"] = Json::array();
    for (const Finding& finding : replayed.findings) {
        if (verbose || finding.verdict != Verdict::equal)
            json["findings"].push_back(finding_json(capture, replayed, finding));
    }
    return json;
}

}  // namespace

void print_report(std::ostream& out, const Replay& replay, bool verbose) {
    if (!replay.has_side_file && !replay.connections.empty())
        out << "no side file: what the capture does not tell is inferred\n";
    for (const ReplayedConnection& replayed : replay.connections)
        print_connection(out, replay.capture, replayed, verbose);
    for (const std::string& note : replay.notes)
        out << note << '\n';
}

Json counts_json(const ReplayCounts& counts) {
    return {{"connections", counts.connections},
            {"requests", counts.requests},
            {"equal", counts.equal},
            {"different", counts.different},
            {"explained", counts.explained},
            {"not_compared", counts.not_compared}};
}

Json report_json(const std::string& file, const Replay& replay, bool verbose) {
    Json json;
    json["file"] = file;
    json["side_file"] = replay.has_side_file;
    json["notes"] = replay.notes;
    json["connections"] = Json::array();
    for (const ReplayedConnection& replayed : replay.connections)
        json["connections"].push_back(connection_json(replay.capture, replayed, verbose));
    json["summary"] = counts_json(replay.counts());
    return json;
}

}  // namespace rocem::tools
