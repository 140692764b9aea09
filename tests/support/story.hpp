// Two NICs, A and B, one wire between them, and time that passes only when it is told to.
//
// A story reads: GIVEN a connected pair, WHEN something is posted and something goes wrong on the wire, THEN
// the wire log, the completions and the memory are these.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/lines.hpp"
#include "tests/support/node.hpp"
#include "tests/support/story_settings.hpp"
#include "tests/support/wire.hpp"

namespace rocem::test {

using namespace std::chrono_literals;

// Every story is told with DMA answered at once and late. A macro, for GENERATE belongs to the test case.
#define ANY_DMA_MODE()                                                                        \
    GENERATE(::rocem::test::DmaMode{0}, ::rocem::test::DmaMode{1}, ::rocem::test::DmaMode{3}, \
             ::rocem::test::DmaMode{17})

class Story {
 public:
    explicit Story(const StoryOptions& options = {});
    ~Story();
    Story(const Story&) = delete;
    Story& operator=(const Story&) = delete;

    Node a;
    Node b;
    Wire wire;

    Node& node(Side side) { return side == Side::a ? a : b; }
    engine::Time now() const { return now_; }
    engine::Duration since_start() const { return now_ - start; }

    // --- connections; number n is QP n of both nodes ---
    unsigned create_pair();                                                             // both QPs in RESET
    void connect(unsigned number, std::uint32_t first_psn, std::uint32_t first_psn_b);  // RESET to RTS, both
    engine::Error modify(Side side, engine::QpState state, std::uint32_t extra_mask = 0, unsigned number = 0);
    // All attributes of the options for this QP, as the application would give them.
    engine::QpAttributes attributes(Side side, unsigned number = 0) const;
    engine::QpInit init(Side side) const;

    // --- what goes wrong ---
    void lose(const FrameSelector& frames) { wire.add_fault({frames, Fate::lost, 0}); }
    void duplicate(const FrameSelector& frames) { wire.add_fault({frames, Fate::duplicated, 0}); }
    void delay(const FrameSelector& frames, unsigned n) { wire.add_fault({frames, Fate::delayed, n}); }
    void corrupt(const FrameSelector& frames) { wire.add_fault({frames, Fate::corrupted, 0}); }

    // --- time ---
    // Until nothing is on the way and no timer runs. Fails the test if that does not happen in an hour of
    // virtual time.
    void run();
    // Everything that happens until that much time has passed.
    void run_for(engine::Duration duration);
    // Until the condition holds; false if the story ended before.
    bool run_until(const std::function<bool()>& condition);
    void step_turns(unsigned turns);

    // --- the log ---
    std::string log() const;
    std::string log_from(Side side) const;
    std::string requests(Side side = Side::a) const;                     // without answers
    std::vector<Sighting> sightings(const FrameSelector& frames) const;  // all matches
    std::size_t count(const FrameSelector& frames) const { return sightings(frames).size(); }

    static constexpr engine::Time start{std::chrono::seconds(1)};

 private:
    bool step(engine::Time horizon);

    StoryOptions options_;
    engine::Time now_ = start;
    unsigned steps_ = 0;
    Catch::ScopedMessage told_;
};

}  // namespace rocem::test
