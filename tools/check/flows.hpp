// The connections of a trace: packets that go to one queue pair are a flow, and a flow of requests is paired
// with the flow of answers that fits it. Requests carry the responder's QPN only, answers the requester's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/ids.hpp"
#include "tools/check/sighting.hpp"

namespace rocem::tools {

struct FlowKey {
    protocol::Gid source;
    protocol::Gid destination;
    protocol::Qpn qpn;  // at the destination

    friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

struct Flow {
    FlowKey key;
    std::vector<Sighting> frames;
};

class Flows {
 public:
    // Damaged packets make no flow: their headers may be wrong. They join one that intact ones made.
    void add(const FlowKey& key, const Sighting& sighting);
    // In the order of their first intact frames.
    std::vector<Flow> take();

 private:
    std::map<FlowKey, Flow> flows_;
};

// Requests to one responder, with their answers, in the order of the trace.
struct Stream {
    FlowKey requests;
    std::optional<protocol::Qpn> requester_qpn;
    std::vector<Sighting> frames;
};

struct Streams {
    std::vector<Stream> list;
    std::vector<Flow> answers_left;  // without requests
};

Streams pair_flows(std::vector<Flow> requests, std::vector<Flow> answers);

}  // namespace rocem::tools
