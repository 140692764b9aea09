#include "tools/check/flows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rocem::tools {
namespace {

using protocol::Psn;

// How well answers fit requests: how many name a PSN that was asked for before, and how many of those share
// the requests' UDP source port. The MTU is not known yet; the smallest one gives a READ the most PSNs.
struct Fit {
    std::size_t psns = 0;
    std::size_t ports = 0;

    friend auto operator<=>(const Fit&, const Fit&) = default;
};

std::uint32_t most_psns(const Sighting& request) {
    constexpr std::uint32_t smallest_mtu = 256;
    if (request.info->operation != protocol::Operation::rdma_read_request) return 1;
    return std::max(1u, request.reth.dma_length / smallest_mtu + 1);
}

class AskedFor {
 public:
    void add(const Sighting& request) {
        const Psn after = request.psn.plus(most_psns(request));
        // A long way off: another connection on the same QPN.
        constexpr std::int32_t far = 1 << 20;
        const bool restart =
            !known_ || Psn::distance(end_, request.psn) > far || Psn::distance(request.psn, first_) > far;
        if (restart || request.psn.precedes(first_)) first_ = request.psn;
        if (restart || end_.precedes(after)) end_ = after;
        known_ = true;
    }
    bool has(Psn psn) const {
        return known_ && first_.minus(1).precedes_or_equals(psn) && psn.precedes_or_equals(end_);
    }

 private:
    bool known_ = false;
    Psn first_;
    Psn end_;
};

Fit fit_of(const Flow& requests, const Flow& answers) {
    Fit fit;
    AskedFor asked_for;
    auto next = requests.frames.begin();
    for (const Sighting& answer : answers.frames) {
        if (!answer.intact) continue;
        for (; next != requests.frames.end() && next->order < answer.order; ++next) {
            if (next->intact) asked_for.add(*next);
        }
        if (!asked_for.has(answer.psn)) continue;
        ++fit.psns;
        if (answer.source_port == requests.frames.front().source_port) ++fit.ports;
    }
    return fit;
}

struct Candidate {
    Fit fit;
    std::size_t requests = 0;
    std::size_t answers = 0;
};

bool between_same_hosts(const Flow& requests, const Flow& answers) {
    return requests.key.source == answers.key.destination && requests.key.destination == answers.key.source;
}

// The best fitting first. Those of which no PSN fits are no pair: they may belong to a flow that was not
// captured.
std::vector<Candidate> candidates_of(const std::vector<Flow>& requests, const std::vector<Flow>& answers) {
    std::vector<Candidate> candidates;
    for (std::size_t r = 0; r < requests.size(); ++r) {
        for (std::size_t a = 0; a < answers.size(); ++a) {
            if (!between_same_hosts(requests[r], answers[a])) continue;
            const Fit fit = fit_of(requests[r], answers[a]);
            if (fit.psns != 0) candidates.push_back({fit, r, a});
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return b.fit < a.fit; });
    return candidates;
}

}  // namespace

void Flows::add(const FlowKey& key, const Sighting& sighting) {
    Flow& flow = flows_[key];
    flow.key = key;
    flow.frames.push_back(sighting);
}

std::vector<Flow> Flows::take() {
    std::vector<std::pair<std::uint64_t, Flow>> found;
    for (auto& [key, flow] : flows_) {
        const auto intact = std::find_if(flow.frames.begin(), flow.frames.end(),
                                         [](const Sighting& sighting) { return sighting.intact; });
        if (intact != flow.frames.end()) found.emplace_back(intact->order, std::move(flow));
    }
    flows_.clear();
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Flow> flows;
    flows.reserve(found.size());
    for (auto& [order, flow] : found)
        flows.push_back(std::move(flow));
    return flows;
}

Streams pair_flows(std::vector<Flow> requests, std::vector<Flow> answers) {
    std::vector<std::optional<std::size_t>> partner(requests.size());
    std::vector<bool> taken(answers.size(), false);
    for (const Candidate& candidate : candidates_of(requests, answers)) {
        if (partner[candidate.requests] || taken[candidate.answers]) continue;
        partner[candidate.requests] = candidate.answers;
        taken[candidate.answers] = true;
    }
    Streams streams;
    for (std::size_t r = 0; r < requests.size(); ++r) {
        Stream stream;
        stream.requests = requests[r].key;
        if (!partner[r]) {
            stream.frames = std::move(requests[r].frames);
        } else {
            Flow& flow = answers[*partner[r]];
            stream.requester_qpn = flow.key.qpn;
            stream.frames.resize(requests[r].frames.size() + flow.frames.size());
            std::merge(requests[r].frames.begin(), requests[r].frames.end(), flow.frames.begin(),
                       flow.frames.end(), stream.frames.begin(),
                       [](const Sighting& a, const Sighting& b) { return a.order < b.order; });
        }
        streams.list.push_back(std::move(stream));
    }
    for (std::size_t a = 0; a < answers.size(); ++a) {
        if (!taken[a]) streams.answers_left.push_back(std::move(answers[a]));
    }
    return streams;
}

}  // namespace rocem::tools
