// What a check found: for each connection its counters, its gaps and what broke a rule.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.hpp"
#include "protocol/opcode.hpp"
#include "protocol/psn.hpp"
#include "tools/check/rules.hpp"

namespace rocem::tools {

struct Finding {
    Rule rule{};
    std::vector<std::uint64_t> frames;  // the one that breaks the rule, then those that it is measured by
    std::string text;                   // what was seen, with PSNs
    bool deviation = false;             // a habit that the profile accepts

    std::string_view name(Profile profile) const;  // the rule's, or the deviation's
};

// A sequence NAK, or a hole that is left at the end, and what became of it.
struct Gap {
    protocol::Psn psn;                        // first lost
    std::optional<std::uint64_t> seen_frame;  // first request from behind the gap
    std::optional<std::uint64_t> nak_frame;
    std::optional<std::uint64_t> resend_frame;
    bool repaired = false;  // its PSN was sent again, or acknowledged
    std::optional<std::chrono::nanoseconds> gap_to_nak;
    std::optional<std::chrono::nanoseconds> nak_to_resend;
};

struct ConnectionCounters {
    std::uint64_t requests = 0;  // request packets
    std::uint64_t answers = 0;
    std::uint64_t messages = 0;               // that were seen to their end
    std::uint64_t packet_seq_err = 0;         // resends after a NAK
    std::uint64_t local_ack_timeout_err = 0;  // resends after a timeout
    std::uint64_t implied_nak_seq_err = 0;    // READs and atomics asked for again before a timeout
    std::uint64_t rnr_nak_retry = 0;          // resends after an RNR NAK
    std::uint64_t out_of_sequence = 0;        // requests seen behind a gap
    std::uint64_t sequence_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t icrc_errors = 0;      // either way; such packets arrive nowhere
    std::uint64_t copies = 0;           // made by the network
    std::uint64_t lost_before_tap = 0;  // PSNs that the requester sent and the tap did not see
};

// One direction of requests and its answers; a queue pair that sends both ways has two.
struct ConnectionReport {
    protocol::Gid requester;
    protocol::Gid responder;
    protocol::Qpn responder_qpn;
    std::optional<protocol::Qpn> requester_qpn;         // known from the answers
    protocol::Service service = protocol::Service::rc;  // rc, xrc or uc
    std::optional<std::uint32_t> mtu;                   // inferred or given
    std::uint64_t first_frame = 0;
    std::uint64_t last_frame = 0;
    ConnectionCounters counters;
    std::vector<Gap> gaps;
    std::optional<std::chrono::nanoseconds> shortest_timeout;  // between a transmission and its timeout
    std::vector<Finding> findings;                             // in the order of their first frames
};

struct Report {
    Profile profile = Profile::spec;
    std::uint64_t frames = 0;
    std::uint64_t datagrams = 0;  // UD
    std::uint64_t cnps = 0;
    std::uint64_t answers_without_requests = 0;
    std::vector<ConnectionReport> connections;
    std::vector<Finding> findings;  // of no connection

    std::uint64_t requests() const;
    std::uint64_t violations() const;
    std::uint64_t deviations() const;
};

}  // namespace rocem::tools
