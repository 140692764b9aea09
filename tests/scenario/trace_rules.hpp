// Go-back-N judged from the wire log alone, as a stranger with a capture would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "queue_engine/time.hpp"
#include "tests/support/wire.hpp"

namespace rocem::test {

// Complaints about one connection and one requester, a line each. ack_timeout is T of rocev2.md 5.9.1.
//  - The requester sends the next PSN, or goes back: to a PSN that was NAKed, to one that it sent at least T
//  ago, or to a
//    READ or atomic whose answer was passed by a later one (5.9.2 to 5.9.7).
//  - The responder NAKs a gap once: the PSNs of its sequence NAKs increase. What its ACKs cover never shrinks
//  (5.8.1).
std::string judge_trace(const std::vector<Sighting>& log, unsigned flow, Side requester, std::uint32_t mtu,
                        engine::Duration ack_timeout);

}  // namespace rocem::test
