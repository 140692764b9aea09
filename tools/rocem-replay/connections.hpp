// The RC connections of a capture, one for each responder: a connection that carries requests both ways is
// two.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "protocol/ids.hpp"
#include "tools/rocem-replay/capture.hpp"

namespace rocem::tools {

// Indices into the capture stand in captured order.
struct Connection {
    protocol::Gid requester;
    protocol::Gid responder;
    protocol::Qpn responder_qpn;
    std::optional<protocol::Qpn> requester_qpn;  // known from the answers
    std::vector<std::size_t> requests;           // intact, or cut off by the capture
    std::vector<std::size_t> answers;            // intact, or cut off by the capture
    std::vector<std::size_t> damaged_answers;    // whole, with a wrong ICRC: the requester did not take them
    std::size_t damaged_requests = 0;            // with a wrong ICRC: the responder did not take them
};

struct Connections {
    std::vector<Connection> list;
    std::size_t answers_without_requests = 0;
};

Connections find_connections(const Capture& capture);

}  // namespace rocem::tools
