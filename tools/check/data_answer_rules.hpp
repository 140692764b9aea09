// READ responses and answers of atomics, and the order of ACKs around them (rocev2.md 5.2, 5.8.2, 5.8.10).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tools/check/connection.hpp"

namespace rocem::tools {

class DataAnswerRules {
 public:
    explicit DataAnswerRules(Connection& connection) : c_(connection) {}

    // Where the request begins that this answers; nothing, and a finding, if there is none.
    std::optional<Place> request_of(const Sighting& answer, Place place);
    // True if it is the request's last answer.
    bool see(const Sighting& answer, Place place, Place request);
    // An ACK of this place stands behind all READ responses and atomic answers before it.
    void check_not_overtaken(const Sighting& ack, Place place);

 private:
    void check_atomic(const Sighting& answer, Place place);
    void check_length(const Sighting& answer, Place place, Place start, const Sent& read);
    void check_position(const Sighting& answer, Place place, Place start, const Sent& read);
    void check_contiguous(const Sighting& answer, Place place);

    struct Saved {
        std::uint64_t original = 0;
        std::uint64_t number = 0;
    };

    Connection& c_;
    std::map<Place, Saved> originals_;
    std::optional<Place> previous_response_;
    std::uint64_t previous_number_ = 0;
};

}  // namespace rocem::tools
