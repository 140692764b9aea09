#include "tests/support/story.hpp"

#include <algorithm>

namespace rocem::test {
namespace {

constexpr engine::Duration story_max = std::chrono::hours(1);
constexpr unsigned steps_max = 20'000'000;

bool matches(const FrameSelector& selector, const Sighting& sighting) {
    FrameSelector same = selector;
    return same.from == sighting.from && same.flow == sighting.flow &&
           kind_matches(same.kind, sighting.packet) && (!same.psn || *same.psn == sighting.psn);
}

}  // namespace

Story::Story(const StoryOptions& options)
    : a(node_settings(options, Side::a)),
      b(node_settings(options, Side::b)),
      wire(options.latency, options.seed),
      options_(options),
      told_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << telling(options)) {
    for (unsigned i = 0; i < options.connections; ++i) {
        const unsigned number = create_pair();
        // Every connection starts elsewhere on the circle.
        const std::uint32_t shift = 0x1000 * number;
        connect(number, (options.first_psn + shift) & psn_mask, (options.first_psn_b + shift) & psn_mask);
    }
}

Story::~Story() {
    CHECK(a.violations() == std::vector<std::string>{});
    CHECK(b.violations() == std::vector<std::string>{});
}

engine::QpInit Story::init(Side side) const {
    const Node& node = side == Side::a ? a : b;
    engine::QpInit init;
    init.pd = node.pd;
    init.send_cq = node.send_cq;
    init.recv_cq = node.recv_cq;
    init.cap = options_.cap;
    init.sq_sig_all = options_.sq_sig_all;
    return init;
}

unsigned Story::create_pair() {
    const unsigned number = a.add_qp(init(Side::a));
    REQUIRE(b.add_qp(init(Side::b)) == number);
    return number;
}

engine::QpAttributes Story::attributes(Side side, unsigned number) const {
    const Node& peer = side == Side::a ? b : a;
    return attributes_of(options_, peer.address, peer.qpn(number));
}

engine::Error Story::modify(Side side, engine::QpState state, std::uint32_t extra_mask, unsigned number) {
    engine::QpAttributes wanted = attributes(side, number);
    wanted.state = state;
    return node(side).engine.modify_qp(now_, node(side).qp(number), wanted, engine::attr_state | extra_mask);
}

void Story::connect(unsigned number, std::uint32_t first_psn, std::uint32_t first_psn_b) {
    for (const Side side : {Side::a, Side::b}) {
        engine::QpAttributes wanted = attributes(side, number);
        wanted.sq_psn = protocol::Psn(side == Side::a ? first_psn : first_psn_b);
        wanted.rq_psn = protocol::Psn(side == Side::a ? first_psn_b : first_psn);
        for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
            wanted.state = state;
            REQUIRE(node(side).engine.modify_qp(now_, node(side).qp(number), wanted, required_mask(state)) ==
                    engine::Error::none);
        }
    }
    const auto qpn = [number](const Node& node) { return number_of(node.qpn(number)); };
    wire.add_flow(number, Side::a, qpn(a), qpn(b), first_psn);
    wire.add_flow(number, Side::b, qpn(b), qpn(a), first_psn_b);
}

// --- time ---

bool Story::step(engine::Time horizon) {
    if (++steps_ == steps_max) FAIL("the story does not end: something is always about to happen");
    for (Frame& frame : wire.arrived(now_))
        node(frame.to).deliver(std::move(frame.bytes));
    bool busy = false;
    for (const Side side : {Side::a, Side::b}) {
        busy |= node(side).turn(now_);
        for (auto& frame : node(side).take_frames())
            wire.send(now_, side, std::move(frame));
    }
    engine::Time next = now_ + turn_time;
    if (!busy && !a.dma_pending() && !b.dma_pending()) {
        next = std::min({wire.next_arrival(), a.engine.next_deadline(), b.engine.next_deadline()});
        next = std::max(next, now_ + 1ns);
    }
    if (next > horizon) return false;
    now_ = next;
    return true;
}

void Story::run() {
    const engine::Time horizon = now_ + story_max;
    while (step(horizon)) {
    }
    const engine::Time next = std::min(a.engine.next_deadline(), b.engine.next_deadline());
    if (next != engine::never) FAIL("the story does not end: after an hour a timer still runs");
}

void Story::run_for(engine::Duration duration) {
    const engine::Time end = now_ + duration;
    while (step(end)) {
    }
    now_ = end;
}

bool Story::run_until(const std::function<bool()>& condition) {
    const engine::Time horizon = now_ + story_max;
    while (!condition()) {
        if (!step(horizon)) return condition();
    }
    return true;
}

void Story::step_turns(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) {
        if (!step(now_ + turn_time)) now_ += turn_time;
    }
}

// --- the log ---

std::string Story::log() const {
    std::string text;
    for (const Sighting& sighting : wire.log())
        text += describe(sighting) + "\n";
    return text;
}

std::string Story::log_from(Side side) const {
    std::string text;
    for (const Sighting& sighting : wire.log()) {
        if (sighting.from == side) text += describe(sighting) + "\n";
    }
    return text;
}

std::string Story::requests(Side side) const {
    std::string text;
    for (const Sighting& sighting : wire.log()) {
        if (sighting.from == side && !sighting.packet.is_response()) text += describe(sighting) + "\n";
    }
    return text;
}

std::vector<Sighting> Story::sightings(const FrameSelector& frames) const {
    std::vector<Sighting> found;
    for (const Sighting& sighting : wire.log()) {
        if (matches(frames, sighting)) found.push_back(sighting);
    }
    return found;
}

}  // namespace rocem::test
