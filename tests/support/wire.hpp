// The virtual wire between two nodes: carries real frames, meets them with faults, and remembers them as a
// log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "queue_engine/time.hpp"
#include "tests/support/roce_frame.hpp"

namespace rocem::test {

enum class Side : std::uint8_t { a, b };
constexpr Side other(Side side) {
    return side == Side::a ? Side::b : Side::a;
}

enum class FrameKind : std::uint8_t { any, request, ack, nak, rnr_nak, read_response, atomic_ack };

// Names frames as congestion.md does: direction, kind, PSN relative to the first, and which transmission of
// it.
struct FrameSelector {
    Side from = Side::a;
    FrameKind kind = FrameKind::any;
    std::optional<std::int32_t> psn;
    unsigned first = 1;  // the first match that is meant, from 1
    unsigned count = 1;  // how many matches from there on
    unsigned flow = 0;   // which connection of the story

    FrameSelector iteration(unsigned n) const {
        return changed([n](auto& s) { s.first = n; });
    }
    FrameSelector times(unsigned n) const {
        return changed([n](auto& s) { s.count = n; });
    }
    FrameSelector always() const { return times(~0u); }
    FrameSelector sent_by(Side side) const {
        return changed([side](auto& s) { s.from = side; });
    }
    FrameSelector on(unsigned n) const {
        return changed([n](auto& s) { s.flow = n; });
    }

 private:
    template <class Change>
    FrameSelector changed(Change change) const {
        FrameSelector copy = *this;
        change(copy);
        return copy;
    }
};

// Requests of A, answers of B.
inline FrameSelector request(std::int32_t psn) {
    return {Side::a, FrameKind::request, psn};
}
inline FrameSelector any_request() {
    return {Side::a, FrameKind::request, std::nullopt};
}
inline FrameSelector ack() {
    return {Side::b, FrameKind::ack, std::nullopt};
}
inline FrameSelector nak() {
    return {Side::b, FrameKind::nak, std::nullopt};
}
inline FrameSelector rnr_nak() {
    return {Side::b, FrameKind::rnr_nak, std::nullopt};
}
inline FrameSelector read_response(std::int32_t psn) {
    return {Side::b, FrameKind::read_response, psn};
}
inline FrameSelector atomic_ack() {
    return {Side::b, FrameKind::atomic_ack, std::nullopt};
}

enum class Fate : std::uint8_t { delivered, lost, duplicated, delayed, corrupted };

bool kind_matches(FrameKind kind, const RocePacket& packet);

struct Fault {
    FrameSelector selector;
    Fate action = Fate::lost;
    unsigned delay_frames = 1;  // delayed: comes after so many later frames of its direction
    unsigned matches = 0;       // seen so far
};

// Chances for every frame, each 0..1.
struct Weather {
    double lost = 0;
    double duplicated = 0;
    double delayed = 0;  // behind 1 to 5 later frames
    double corrupted = 0;
};

// One frame as it was put on the wire.
struct Sighting {
    engine::Time time;
    Side from = Side::a;
    Fate fate = Fate::delivered;
    unsigned flow = 0;
    std::int32_t psn = 0;  // relative to the flow's first
    RocePacket packet;
    OuterFacts outer;
    std::vector<std::byte> frame;
};

// "READ_REQUEST psn=+0 len=5", "RNR_NAK psn=+1 msn=0 timer=12"
std::string describe(const RocePacket& packet, std::int32_t relative_psn);
// "A>B WRITE_FIRST psn=+0", "B>A NAK_PSN_SEQUENCE psn=+2 msn=0 lost"
std::string describe(const Sighting& sighting);

struct Frame {
    Side to = Side::a;
    std::vector<std::byte> bytes;
};

class Wire {
 public:
    Wire(engine::Duration latency, std::uint64_t seed) : latency_(latency), random_(seed) {}

    // Requests that `requester` sends to responder_qpn, and answers to requester_qpn, start at first_psn.
    void add_flow(unsigned flow, Side requester, std::uint32_t requester_qpn, std::uint32_t responder_qpn,
                  std::uint32_t first_psn);
    void add_fault(const Fault& fault) { faults_.push_back(fault); }
    void clear_faults() { faults_.clear(); }
    void set_weather(const Weather& weather) { weather_ = weather; }
    void keep_log(bool keep) { keep_log_ = keep; }

    void send(engine::Time now, Side from, std::vector<std::byte> frame);
    // The frames that have arrived by now, in order of arrival.
    std::vector<Frame> arrived(engine::Time now);
    engine::Time next_arrival() const;

    const std::vector<Sighting>& log() const { return log_; }
    void clear_log() { log_.clear(); }
    std::uint64_t frames_sent(Side from) const { return frames_sent_[static_cast<std::size_t>(from)]; }

 private:
    struct Flow {
        unsigned number = 0;
        std::uint32_t first_psn = 0;
    };
    struct Held {
        Side from = Side::a;
        unsigned frames_left = 0;
        engine::Time release_at;
        std::vector<std::byte> frame;
    };

    const Flow* find_flow(Side from, const RocePacket& packet) const;
    Sighting sight(engine::Time now, Side from, const std::vector<std::byte>& frame) const;
    Fault* matching_fault(const Sighting& sighting);
    Fate draw_weather(unsigned& delay_frames);
    void put(engine::Time arrival, Side from, std::vector<std::byte> frame);
    void count_down_held(engine::Time now, Side from);

    engine::Duration latency_;
    std::mt19937_64 random_;
    std::map<std::tuple<Side, std::uint32_t, bool>, Flow> flows_;  // sender, destination QPN, is response
    std::vector<Fault> faults_;
    std::optional<Weather> weather_;
    bool keep_log_ = true;
    std::vector<Sighting> log_;
    std::array<std::uint64_t, 2> frames_sent_{};
    std::uint64_t order_ = 0;
    std::map<std::pair<engine::Time, std::uint64_t>, Frame> in_flight_;
    std::vector<Held> held_;
};

}  // namespace rocem::test
