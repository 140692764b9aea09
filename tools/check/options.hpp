// What is known about a trace, and how strictly its peers are judged.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "protocol/units.hpp"

namespace rocem::tools {

// Whose habits are accepted by name.
enum class Profile : std::uint8_t {
    spec,  // none
    rxe,   // Linux rxe, and the test peers it was captured with
    cx,    // network adapters that ask for few ACKs
};

// Where the frames were seen. It decides which faults explain what.
enum class Tap : std::uint8_t {
    anywhere,   // one point of the path: frames may be missing before it and be lost behind it
    senders,    // each frame as it left its sender, before the network: nothing is missing
    requester,  // at the requester: its requests are complete, and it got every answer that was seen
    responder,  // at the responder: its answers are complete, and it got every request that was seen
};

struct CheckOptions {
    Profile profile = Profile::spec;
    Tap tap = Tap::anywhere;
    bool duplication = true;  // the network may copy a frame
    bool reordering = false;  // the network may let frames overtake each other
    bool ended = false;       // the trace ends when all is done: what is open then stays open
    // T of every requester, 4.096 us * 2^n; zero: never. Not given: only what no T allows is judged.
    std::optional<std::chrono::nanoseconds> ack_timeout;
    std::optional<protocol::PathMtu> mtu;        // not given: inferred for each connection
    std::optional<std::uint32_t> max_rd_atomic;  // READs and atomics that may be outstanding; not given: any
    // Timers are allowed to be shorter by this: the clock of the capture, and delays that vary.
    std::chrono::nanoseconds slack{1000};
    // An answer may take this long from the tap to the requester.
    std::chrono::nanoseconds reaction{50'000'000};

    bool requests_complete() const { return tap == Tap::senders || tap == Tap::requester; }
    bool answers_complete() const { return tap == Tap::senders || tap == Tap::responder; }
};

}  // namespace rocem::tools
