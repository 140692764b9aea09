// Where a requester goes on, and where and when it goes back (congestion.md "Go-back-N", rocev2.md 5.9).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "tools/check/connection.hpp"
#include "tools/check/request_content.hpp"

namespace rocem::tools {

class RequesterRules {
 public:
    explicit RequesterRules(Connection& connection) : c_(connection), content_(connection) {}

    void see(const Sighting& request, Place place);
    void answer_seen() { timeouts_in_a_row_ = 0; }
    bool gave_up_or_waits() const { return timeouts_in_a_row_ != 0; }

 private:
    enum class Reason : std::uint8_t { none, nak, rnr, implied, timeout, lost_before_tap, covered };

    void begin(Place place);
    bool is_copy(const Sighting& request, Place place);
    void forward(const Sighting& request, Place place);
    bool backward(const Sighting& request, Place place);
    Reason reason_for(const Sighting& request, Place place);
    Reason reason_from_below(const Sighting& request, Place place);
    SeenNak* nak_at(Place place, std::chrono::nanoseconds now);
    const SeenNak* early_rnr_nak(Place place, std::chrono::nanoseconds now) const;
    bool is_implied(Place place) const;
    bool was_implied_below(const Sighting& request, Place place) const;
    bool timed_out(Place place, std::chrono::nanoseconds now) const;
    bool may_be_oldest_unacked(Place place) const;
    void count(Reason reason, const Sighting& request, Place place);
    void mark_resent(const Sighting& request, Place place);
    void count_timeout(const Sighting& request, Place place);
    void complain(const Sighting& request, Place place);
    void after_fatal_nak(const Sighting& request, Place place);
    void arrive(const Sighting& request, Place place);
    void record(const Sighting& request, Place place, Place end);

    Connection& c_;
    RequestContent content_;
    std::uint64_t last_number_ = 0;
    std::optional<Place> timeout_place_;
    std::uint32_t timeouts_in_a_row_ = 0;
};

}  // namespace rocem::tools
