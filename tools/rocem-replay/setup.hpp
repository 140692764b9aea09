// What an engine must be told to stand in for a responder: from the side file, and where that is silent from
// the capture itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/rocem-replay/connections.hpp"
#include "tools/rocem-replay/side_file.hpp"

namespace rocem::tools {

struct ResponderSetup {
    protocol::PathMtu mtu;
    protocol::Psn expected_psn;
    protocol::Msn msn;  // of the peer when the capture begins; the engine's own begins at 0
    protocol::PKey p_key{0xffff};
    std::uint32_t access = 0;  // of the QP
    std::uint8_t max_dest_rd_atomic = 16;
    std::uint8_t min_rnr_timer = 0;
    std::vector<RegionFact> regions;
    // Nothing: a receive for every request that the peer accepted, none where it answered with an RNR NAK.
    std::optional<std::vector<ReceiveFact>> receives;
    AckHabit acks = AckHabit::when_requested;
    bool answers_lost = false;
    bool cut = false;
    std::set<std::size_t> not_received;
    std::vector<std::string> inferred;  // a phrase for each fact that the side file does not give
};

// mtu_seen: the largest full packet of the connection in either direction, 0 if there is none.
ResponderSetup make_setup(const Capture& capture, const Connection& connection, const ResponderFacts* facts,
                          bool cut, std::uint32_t mtu_seen);

// Payload of the largest FIRST or MIDDLE packet, whichever way it goes.
std::uint32_t largest_full_packet(const Capture& capture, const Connection& connection);

}  // namespace rocem::tools
