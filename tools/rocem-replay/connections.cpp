#include "tools/rocem-replay/connections.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "queue_engine/responder_checks.hpp"

namespace rocem::tools {
namespace {

using protocol::Gid;
using protocol::Psn;
using protocol::Qpn;

struct FlowKey {
    Gid source;
    Gid destination;
    Qpn destination_qpn;

    friend bool operator<(const FlowKey& a, const FlowKey& b) {
        return std::tie(a.source, a.destination, a.destination_qpn) <
               std::tie(b.source, b.destination, b.destination_qpn);
    }
};

// Packets of one kind that go to one QP.
struct Flow {
    FlowKey key;
    std::vector<std::size_t> frames;
    std::vector<std::size_t> damaged;
};

struct Flows {
    std::map<FlowKey, std::size_t> index;
    std::vector<Flow> list;  // in the order of their first frames

    Flow& at(const FlowKey& key) {
        const auto [found, is_new] = index.emplace(key, list.size());
        if (is_new) list.push_back({key, {}, {}});
        return list[found->second];
    }
    Flow* find(const FlowKey& key) {
        const auto found = index.find(key);
        return found == index.end() ? nullptr : &list[found->second];
    }
};

FlowKey key_of(const ReplayFrame& frame) {
    return {protocol::source_gid(frame.packet), protocol::destination_gid(frame.packet),
            frame.packet.roce.bth.dest_qp};
}

// What a NIC would look at makes the flows; what it would not is only counted to them.
void collect(const Capture& capture, Flows& requests, Flows& answers) {
    for (std::size_t i = 0; i < capture.size(); ++i) {
        const ReplayFrame& frame = capture[i];
        if (!frame.is_rc() || !(frame.intact() || (frame.understood && frame.cut()))) continue;
        Flows& flows = frame.is_request() ? requests : answers;
        flows.at(key_of(frame)).frames.push_back(i);
    }
    for (std::size_t i = 0; i < capture.size(); ++i) {
        const ReplayFrame& frame = capture[i];
        if (!frame.is_rc() || !frame.understood || frame.cut() || frame.icrc_right) continue;
        Flow* flow = (frame.is_request() ? requests : answers).find(key_of(frame));
        if (flow != nullptr) flow->damaged.push_back(i);
    }
}

// How well answers fit requests: the number of answers whose PSN was asked for before, and of those that
// share the requests' UDP source port. The MTU is not known yet; the smallest one gives a READ the most PSNs.
struct Fit {
    std::size_t psns = 0;
    std::size_t ports = 0;

    friend bool operator<(const Fit& a, const Fit& b) {
        return std::tie(a.psns, a.ports) < std::tie(b.psns, b.ports);
    }
};

Fit fit_of(const Capture& capture, const Flow& requests, const Flow& answers) {
    constexpr std::uint32_t smallest_mtu = 256;
    Fit fit;
    std::size_t next = 0;
    std::optional<Psn> first;  // of what was asked for so far: [first, end)
    Psn end;
    for (const std::size_t at : answers.frames) {
        for (; next < requests.frames.size() && requests.frames[next] < at; ++next) {
            const protocol::RocePacket& roce = capture[requests.frames[next]].packet.roce;
            const Psn after = roce.bth.psn.plus(engine::psns_of_request(roce, smallest_mtu));
            if (!first) {
                first = roce.bth.psn;
                end = after;
            } else {
                if (roce.bth.psn.precedes(*first)) first = roce.bth.psn;
                if (end.precedes(after)) end = after;
            }
        }
        if (!first) continue;
        const protocol::Packet& answer = capture[at].packet;
        const Psn psn = answer.roce.bth.psn;
        if (first->minus(1).precedes_or_equals(psn) && psn.precedes_or_equals(end)) ++fit.psns;
        if (answer.udp.source_port == capture[requests.frames.front()].packet.udp.source_port) ++fit.ports;
    }
    return fit;
}

bool between_same_hosts(const Flow& requests, const Flow& answers) {
    return requests.key.source == answers.key.destination && requests.key.destination == answers.key.source;
}

// The best fitting pairs first. Answers with no fitting PSN are paired last, with what is left between the
// same hosts: then it is their content that differs.
class Pairing {
 public:
    Pairing(const Capture& capture, const Flows& requests, const Flows& answers)
        : partner_(requests.list.size()), taken_(answers.list.size(), false) {
        struct Candidate {
            Fit fit;
            std::size_t request_flow = 0;
            std::size_t answer_flow = 0;
        };
        std::vector<Candidate> candidates;
        for (std::size_t r = 0; r < requests.list.size(); ++r) {
            for (std::size_t a = 0; a < answers.list.size(); ++a) {
                if (!between_same_hosts(requests.list[r], answers.list[a])) continue;
                candidates.push_back({fit_of(capture, requests.list[r], answers.list[a]), r, a});
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return b.fit < a.fit; });
        for (const Candidate& candidate : candidates) {
            if (partner_[candidate.request_flow] || taken_[candidate.answer_flow]) continue;
            partner_[candidate.request_flow] = candidate.answer_flow;
            taken_[candidate.answer_flow] = true;
        }
    }

    std::optional<std::size_t> partner(std::size_t request_flow) const { return partner_[request_flow]; }
    bool taken(std::size_t answer_flow) const { return taken_[answer_flow]; }

 private:
    std::vector<std::optional<std::size_t>> partner_;
    std::vector<bool> taken_;
};

}  // namespace

Connections find_connections(const Capture& capture) {
    Flows requests;
    Flows answers;
    collect(capture, requests, answers);
    const Pairing pairing(capture, requests, answers);
    Connections connections;
    for (std::size_t r = 0; r < requests.list.size(); ++r) {
        Flow& flow = requests.list[r];
        Connection connection;
        connection.requester = flow.key.source;
        connection.responder = flow.key.destination;
        connection.responder_qpn = flow.key.destination_qpn;
        connection.requests = std::move(flow.frames);
        connection.damaged_requests = flow.damaged.size();
        if (const auto partner = pairing.partner(r)) {
            Flow& answer_flow = answers.list[*partner];
            connection.requester_qpn = answer_flow.key.destination_qpn;
            connection.answers = std::move(answer_flow.frames);
            connection.damaged_answers = std::move(answer_flow.damaged);
        }
        connections.list.push_back(std::move(connection));
    }
    for (std::size_t a = 0; a < answers.list.size(); ++a) {
        if (!pairing.taken(a)) connections.answers_without_requests += answers.list[a].frames.size();
    }
    return connections;
}

}  // namespace rocem::tools
