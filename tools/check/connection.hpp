// What the rules of one connection share: what was seen so far, and where findings go.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/check/message_log.hpp"
#include "tools/check/options.hpp"
#include "tools/check/report.hpp"
#include "tools/check/sighting.hpp"

namespace rocem::tools {

// A sequence NAK or an RNR NAK that was seen.
struct SeenNak {
    Place place = 0;
    bool rnr = false;
    std::chrono::nanoseconds time{};
    std::chrono::nanoseconds wait{};  // RNR
    std::uint64_t number = 0;
    std::uint32_t explains = 0;  // as many resends as there may be copies of it
};

struct FatalNak {
    Place place = 0;
    std::chrono::nanoseconds time{};
    std::uint64_t number = 0;
    bool gone_back = false;  // the requester resent from there or before: it did not get the NAK
    std::optional<std::uint64_t> request_behind;  // first one that a requester who got it would not send
    bool reported = false;
};

// Responses of one READ that were seen, in any order.
struct ReadProgress {
    Place first_missing = 0;
    std::set<Place> beyond;

    void see(Place place) {
        if (place >= first_missing) beyond.insert(place);
        while (beyond.erase(first_missing) != 0)
            ++first_missing;
    }
};

// Places are unrolled PSNs; `behind` means the first place not included.
struct Connection {
    Connection(const CheckOptions& check_options, ConnectionReport& connection_report)
        : options(check_options), report(connection_report) {}

    const CheckOptions& options;
    ConnectionReport& report;
    std::uint32_t mtu = 1024;
    bool mtu_known = false;

    MessageLog log;
    bool requested = false;  // a request was seen
    Place base = 0;          // the first one seen
    // What was sent below is not fully known: the trace began in the middle of it.
    Place judged_from = 0;
    bool began_in_the_middle = false;
    Place position = 0;  // what the requester sends next if nothing happens
    Place top = 0;       // behind the highest one sent
    Place highest_intact = 0;
    Place covered = 0;                      // behind what answers acknowledged
    bool answered = false;                  // an answer was seen that fits
    std::optional<Place> highest_response;  // READ responses, answers of atomics
    std::optional<Place> highest_acknowledge;
    std::chrono::nanoseconds last_activity{};  // request or answer
    std::vector<SeenNak> naks;
    std::optional<FatalNak> fatal;
    std::map<Place, ReadProgress> reads;  // by where they begin; from their first response on
    std::set<Place> unanswered;           // READs and atomics whose last answer was not seen
    std::uint64_t ack_requests = 0;       // requests with AckReq that no ACK was counted for
    std::uint64_t gap_frame = 0;  // first request seen behind the gap that is open at the tap; 0: none
    std::chrono::nanoseconds gap_time{};
    std::size_t repaired_gaps = 0;  // at the front of the report's

    // Once all that was sent is acknowledged, nothing of before the trace is on its way.
    void settle();
    // Everything before the place is acknowledged: gaps below are repaired.
    void cover(Place behind);
    // The gaps from the oldest open one on.
    std::span<Gap> open_gaps();
    void remember(const SeenNak& nak);
    void find(Rule rule, std::vector<std::uint64_t> frames, std::string text);
};

std::string psn_text(Place place);

}  // namespace rocem::tools
