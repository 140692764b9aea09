// What a responder acknowledges, refuses and counts (congestion.md "Go-back-N", rocev2.md 5.3, 5.8).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tools/check/connection.hpp"
#include "tools/check/data_answer_rules.hpp"

namespace rocem::tools {

class ResponderRules {
 public:
    explicit ResponderRules(Connection& connection) : c_(connection), data_(connection) {}

    // An intact answer that belongs to the requests seen.
    void see(const Sighting& answer, Place place);
    // Whether it belongs: answers to what was sent before the trace are not judged.
    bool belongs(const Sighting& answer, Place place);
    // One that does not may still be why the requester goes back.
    void see_stranger(const Sighting& answer, Place place);

 private:
    SeenNak nak_of(const Sighting& answer, Place place) const;
    bool is_copy(const Sighting& answer, Place place);
    void acknowledge(const Sighting& answer, Place place);
    void refuse(const Sighting& answer, Place place);
    void sequence_nak(const Sighting& answer, Place place);
    bool sequence_nak_is_right(const Sighting& answer, Place place);
    void rnr_nak(const Sighting& answer, Place place);
    void fatal_nak(const Sighting& answer, Place place);
    void data(const Sighting& answer, Place place);
    // Answers cover everything before `behind`.
    void cover(const Sighting& answer, Place behind);
    void check_delivered(const Sighting& answer, Place behind);
    bool went_backwards(const Sighting& answer, Place behind);
    void check_msn(const Sighting& answer, Place behind);
    void open_gap(const Sighting& answer, Place place);
    bool order_is_known() const { return !c_.options.reordering || c_.options.answers_complete(); }

    // Where the responder must be: it answers nothing below.
    struct LeastExpected {
        Place place = 0;
        std::uint64_t number = 0;
    };

    Connection& c_;
    DataAnswerRules data_;
    std::optional<LeastExpected> least_expected_;
    std::map<std::uint32_t, Place> fingerprints_;
    std::optional<SeenNak> last_sequence_nak_;
    std::optional<SeenNak> last_rnr_nak_;
    std::uint32_t rnr_naks_of_place_ = 0;
    // The MSN when the trace began, as far as answers tell: origin + [low, high].
    struct MsnBase {
        protocol::Psn origin;  // circular like a PSN
        std::int32_t low = 0;
        std::int32_t high = 0;
        std::uint64_t number = 0;
    };
    std::optional<MsnBase> msn_base_;
};

}  // namespace rocem::tools
