#include "tools/rocem-replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rocem::tools {
namespace {

// Full packets of a connection that carries requests both ways tell of one path MTU.
std::uint32_t mtu_seen(const Capture& capture, const Connections& connections, const Connection& connection) {
    std::uint32_t largest = largest_full_packet(capture, connection);
    for (const Connection& other : connections.list) {
        const bool opposite = other.requester == connection.responder &&
                              other.responder == connection.requester &&
                              other.responder_qpn == connection.requester_qpn &&
                              (!other.requester_qpn || *other.requester_qpn == connection.responder_qpn);
        if (opposite) largest = std::max(largest, largest_full_packet(capture, other));
    }
    return largest;
}

void note_what_is_no_connection(const Capture& capture, const Connections& connections,
                                std::vector<std::string>& notes) {
    if (connections.answers_without_requests != 0) {
        notes.push_back(fmt::format("{} RC answers to no request of the capture are not compared",
                                    connections.answers_without_requests));
    }
    const auto others = std::count_if(capture.begin(), capture.end(), [](const ReplayFrame& frame) {
        return frame.packet.is_roce() && frame.packet.roce.info != nullptr && frame.intact() &&
               !frame.is_rc();
    });
    if (others != 0)
        notes.push_back(fmt::format("{} RoCE frames of other services are not replayed", others));
}

}  // namespace

void ReplayCounts::add(const ReplayCounts& other) {
    connections += other.connections;
    requests += other.requests;
    equal += other.equal;
    different += other.different;
    explained += other.explained;
    not_compared += other.not_compared;
}

std::string ReplayCounts::line() const {
    return fmt::format(
        "{} connections: {} requests, {} answers equal, {} different, {} explained, {} not compared",
        connections, requests, equal, different, explained, not_compared);
}

ReplayCounts ReplayedConnection::counts() const {
    ReplayCounts counts;
    counts.connections = 1;
    counts.requests = play.requests;
    for (const Finding& finding : findings) {
        switch (finding.verdict) {
            case Verdict::equal:
                ++counts.equal;
                break;
            case Verdict::different:
                ++counts.different;
                break;
            case Verdict::explained:
                ++counts.explained;
                break;
            case Verdict::not_compared:
                ++counts.not_compared;
                break;
        }
    }
    return counts;
}

ReplayCounts Replay::counts() const {
    ReplayCounts total;
    for (const ReplayedConnection& connection : connections)
        total.add(connection.counts());
    return total;
}

Replay replay(Capture capture, const std::optional<SideFile>& side_file, std::string_view name) {
    Replay result;
    result.capture = std::move(capture);
    result.has_side_file = side_file.has_value();
    Connections found = find_connections(result.capture);
    note_what_is_no_connection(result.capture, found, result.notes);
    for (const Connection& connection : found.list) {
        const ResponderFacts* facts =
            side_file ? side_file->find(connection.responder, connection.responder_qpn) : nullptr;
        if (facts != nullptr && facts->absent) {
            result.notes.push_back(fmt::format("{} requests to qp {:#x}, which the responder does not have",
                                               connection.requests.size(), connection.responder_qpn.value()));
            continue;
        }
        ReplayedConnection replayed;
        replayed.setup = make_setup(result.capture, connection, facts, side_file && side_file->cut,
                                    mtu_seen(result.capture, found, connection));
        replayed.connection = connection;
        replayed.play = play(result.capture, connection, replayed.setup);
        replayed.findings = compare(result.capture, connection, replayed.setup, replayed.play, name);
        result.connections.push_back(std::move(replayed));
    }
    return result;
}

}  // namespace rocem::tools
