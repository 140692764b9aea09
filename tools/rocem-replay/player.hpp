// Plays a requester's frames, in captured order and virtual time, into an engine that stands in for the
// responder, and keeps what the engine answers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/rocem-replay/setup.hpp"

namespace rocem::tools {

struct OurAnswer {
    std::vector<std::byte> bytes;
    protocol::Packet packet;    // points into bytes
    std::size_t caused_by = 0;  // index of the request in the capture

    // A copy's packet would point into the original.
    OurAnswer() = default;
    OurAnswer(OurAnswer&&) = default;
    OurAnswer& operator=(OurAnswer&&) = default;
};

// From this frame on there is nothing to compare.
struct PlayStop {
    std::size_t at = 0;  // index into the capture
    std::string why;
};

struct Play {
    std::vector<OurAnswer> answers;
    std::size_t requests = 0;  // frames that passed the receive checks and were played
    std::size_t refused = 0;   // intact frames that the receive checks refuse, as the peer must
    std::optional<PlayStop> stop;
};

Play play(const Capture& capture, const Connection& connection, const ResponderSetup& setup);

}  // namespace rocem::tools
