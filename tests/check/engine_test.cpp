// Two engines in bad weather: whatever the wire does to their frames, the checker raises no alarm.
// ROCEM_SEEDS=n runs more seeds, ROCEM_SEED=s only that one.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>

#include "protocol/packet.hpp"
#include "tests/check/trace.hpp"
#include "tests/scenario/workload.hpp"
#include "tools/check/trace_checker.hpp"

using namespace rocem::tools;

namespace rocem::test {
namespace {

std::vector<std::uint64_t> seeds(std::uint64_t fewest) {
    if (const char* one = std::getenv("ROCEM_SEED")) return {std::strtoull(one, nullptr, 10)};
    if (const char* many = std::getenv("ROCEM_SEEDS")) fewest = std::strtoull(many, nullptr, 10);
    std::vector<std::uint64_t> all;
    for (std::uint64_t seed = 1; seed <= fewest; ++seed)
        all.push_back(seed);
    return all;
}

constexpr std::uint8_t timeout = 8;

StoryOptions options_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    StoryOptions options;
    options.seed = seed;
    const std::uint32_t mtus[] = {256, 1024, 4096};
    options.mtu = mtus[random() % 3];
    const std::uint32_t starts[] = {0, 0xfffffe, 0x7ffff0, static_cast<std::uint32_t>(random()) & psn_mask};
    options.first_psn = starts[random() % 4];
    options.first_psn_b = starts[random() % 4];
    options.connections = 1 + static_cast<unsigned>(random() % 3);
    options.latency = std::chrono::microseconds(random() % 20);
    options.timeout = timeout;
    options.max_rd_atomic = static_cast<std::uint8_t>(1 + random() % 4);
    options.max_dest_rd_atomic = options.max_rd_atomic;
    const std::uint32_t windows[] = {4, 16, 128};
    options.window_packets = windows[random() % 3];
    options.lazy_receives = random() % 2 == 0;
    return options;
}

Weather weather_of(std::uint64_t seed, bool reordering) {
    std::mt19937_64 random(seed ^ 0x5eed);
    const auto chance = [&random] { return static_cast<double>(random() % 60) / 1000.0; };
    Weather weather;
    weather.lost = chance();
    weather.duplicated = chance();
    weather.corrupted = chance();
    if (reordering) weather.delayed = chance();
    return weather;
}

std::vector<Sighting> tell(const StoryOptions& options, const Weather& weather) {
    Story story(options);
    story.wire.set_weather(weather);
    std::deque<Workload> work;
    for (unsigned qp = 0; qp < options.connections; ++qp) {
        work.emplace_back(story, Side::a, qp, 12, options.seed * 16 + qp);
        work.emplace_back(story, Side::b, qp, 12, options.seed * 16 + qp + 8);
    }
    for (Workload& each : work)
        each.post();
    story.run_for(5ms);
    story.wire.set_weather({});
    story.run();
    return story.wire.log();
}

void see(TraceChecker& checker, const Sighting& sighting, std::vector<std::byte> frame,
         std::uint64_t& number) {
    ++number;
    const auto packet = protocol::parse_frame(frame);
    if (packet) {
        checker.see(sighting.time.time_since_epoch(), *packet, number);
    } else {
        checker.see_other();
    }
}

CheckOptions check_options(const StoryOptions& story) {
    CheckOptions options;
    options.ack_timeout = ack_timeout(timeout);
    options.mtu = protocol::PathMtu::from_bytes(story.mtu);
    options.max_rd_atomic = story.max_rd_atomic;
    return options;
}

std::string story_of(const std::vector<Sighting>& log) {
    std::string text;
    std::size_t number = 0;
    for (const Sighting& sighting : log) {
        text += std::to_string(++number) + " " + std::to_string(sighting.time.time_since_epoch().count()) +
                " " + std::to_string(sighting.flow) + " " + describe(sighting) + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("no alarm about frames as they were sent", "[check][engine]") {
    for (const std::uint64_t seed : seeds(60)) {
        const StoryOptions story = options_of(seed);
        const std::vector<Sighting> log = tell(story, weather_of(seed, true));
        CheckOptions options = check_options(story);
        options.tap = Tap::senders;
        options.reordering = true;
        options.ended = true;
        options.reaction = story.latency + 1ms;
        TraceChecker checker(options);
        std::uint64_t number = 0;
        for (const Sighting& sighting : log)
            see(checker, sighting, sighting.frame, number);
        const Report report = checker.finish();
        const std::string findings = findings_of(report);
        INFO("seed " << seed << "\n" << findings << (findings.empty() ? "" : story_of(log)));
        REQUIRE(findings.empty());
        CHECK(report.connections.size() == 2 * story.connections);
    }
}

TEST_CASE("no alarm about frames as they arrived", "[check][engine]") {
    for (const std::uint64_t seed : seeds(60)) {
        const StoryOptions story = options_of(seed);
        const std::vector<Sighting> log = tell(story, weather_of(seed, false));
        TraceChecker checker(check_options(story));
        std::uint64_t number = 0;
        for (const Sighting& sighting : log) {
            if (sighting.fate == Fate::lost) continue;
            std::vector<std::byte> frame = sighting.frame;
            if (sighting.fate == Fate::corrupted) frame.back() ^= std::byte{1};
            see(checker, sighting, frame, number);
            if (sighting.fate == Fate::duplicated) see(checker, sighting, frame, number);
        }
        const Report report = checker.finish();
        const std::string findings = findings_of(report);
        INFO("seed " << seed << "\n" << findings << (findings.empty() ? "" : story_of(log)));
        REQUIRE(findings.empty());
    }
}

}  // namespace rocem::test
