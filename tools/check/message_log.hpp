// What a requester has sent so far, by PSN. PSNs are unrolled here: they do not wrap, and are compared as
// integers.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/check/sighting.hpp"

namespace rocem::tools {

using Place = std::int64_t;  // an unrolled PSN

protocol::Psn psn_at(Place place);
// The place of a PSN that is near a known one.
Place place_of(protocol::Psn psn, Place near);

struct Sent {
    Sighting first;                 // as it was sent first, intact if it ever was
    std::uint64_t first_order = 0;  // of its first transmission, intact or not
    Place end = 0;                  // behind its last PSN
    std::optional<Place> resumes;   // a READ from the gap: where the READ began
    std::chrono::nanoseconds last_time{};
    std::uint64_t last_number = 0;
    std::uint64_t last_order = 0;
    std::uint32_t last_fingerprint = 0;
    std::uint32_t transmissions = 0;  // intact ones, copies included

    bool is_read() const { return first.info->operation == protocol::Operation::rdma_read_request; }
    // Its answer carries data: a lost one is asked for again.
    bool has_data_answer() const;
};

class MessageLog {
 public:
    // An entry for a request at this place, made if there is none.
    Sent& at(Place place, const Sighting& sighting, Place end);
    Sent* find(Place place);
    // The READ, whole or from the gap, that the place is in, and where it began.
    struct ReadAt {
        Place start = 0;
        Sent* sent = nullptr;
    };
    std::optional<ReadAt> read_at(Place place);
    // When the place was last sent, alone or as a part of a READ.
    const Sent* last_sent(Place place) const;
    // The next request behind a place.
    const Sent* after(Place place) const;
    // The request whose end this place is.
    const Sent* before(Place place) const;

    // First place that was not seen intact; everything from the first request to it was.
    Place delivered() const { return delivered_; }
    void start_at(Place place) { delivered_ = place; }
    void advance();
    // What answers prove although it was not seen.
    void force_delivered(Place place);

    // Messages that are complete once everything before the place is delivered.
    std::uint32_t messages_before(Place place) const;
    void complete_message(Place place);

 private:
    std::map<Place, Sent> sent_;
    Place delivered_ = 0;
    std::vector<Place> ends_;  // sorted: where a message completes
};

}  // namespace rocem::tools
