// Random work in random weather: whatever the wire does, every request completes once and in order, and
// memory is what an oracle says. ROCEM_SEEDS=n runs more seeds, ROCEM_SEED=s only that one.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/scenario/trace_rules.hpp"
#include "tests/scenario/workload.hpp"

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

struct Outcome {
    std::string verdict;
    std::string log;
    std::vector<std::vector<std::byte>> frames;
    std::vector<engine::Time> times;
};

StoryOptions options_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    StoryOptions options;
    options.seed = seed;
    const unsigned delays[] = {0, 1, 3, 17};
    options.dma.delay_polls = delays[random() % 4];
    options.dma.jitter = random() % 2 == 0;
    const std::uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
    options.mtu = mtus[random() % 5];
    const std::uint32_t starts[] = {0, 0xfffffe, 0x7ffff0, static_cast<std::uint32_t>(random()) & psn_mask};
    options.first_psn = starts[random() % 4];
    options.first_psn_b = starts[random() % 4];
    options.connections = 1 + static_cast<unsigned>(random() % 4);
    options.latency = std::chrono::microseconds(random() % 20);
    options.timeout = 8;
    options.max_rd_atomic = static_cast<std::uint8_t>(1 + random() % 4);
    options.max_dest_rd_atomic = options.max_rd_atomic;
    const std::uint32_t windows[] = {4, 16, 128};
    options.window_packets = windows[random() % 3];
    options.queued_wqes_max = random() % 2 == 0 ? 4 : 256;
    options.lazy_receives = random() % 2 == 0;
    options.mig_req = random() % 2 == 0;
    return options;
}

Weather weather_of(std::uint64_t seed) {
    std::mt19937_64 random(seed ^ 0x5eed);
    const auto chance = [&random] { return static_cast<double>(random() % 50) / 1000.0; };
    Weather weather;
    weather.lost = chance();
    weather.duplicated = chance();
    weather.delayed = chance();
    weather.corrupted = chance();
    return weather;
}

Outcome tell(std::uint64_t seed, unsigned requests) {
    const StoryOptions options = options_of(seed);
    Story story(options);
    story.wire.set_weather(weather_of(seed));
    std::deque<Workload> work;
    for (unsigned qp = 0; qp < options.connections; ++qp) {
        work.emplace_back(story, Side::a, qp, requests, seed * 16 + qp);
        work.emplace_back(story, Side::b, qp, requests, seed * 16 + qp + 8);
    }
    for (Workload& each : work)
        each.post();
    story.run_for(5ms);
    story.wire.set_weather({});  // the wire heals: now everything must complete
    story.run();

    Outcome outcome;
    const auto sent_a = story.a.take_sent();
    const auto sent_b = story.b.take_sent();
    const auto received_a = story.a.take_received();
    const auto received_b = story.b.take_received();
    for (std::size_t i = 0; i < work.size(); ++i) {
        outcome.verdict +=
            i % 2 == 0 ? work[i].verdict(sent_a, received_b) : work[i].verdict(sent_b, received_a);
    }
    constexpr engine::Duration ack_timeout = 4096ns * 256;
    for (unsigned qp = 0; qp < options.connections; ++qp) {
        for (const Side side : {Side::a, Side::b}) {
            outcome.verdict += judge_trace(story.wire.log(), qp, side, options.mtu, ack_timeout);
        }
    }
    for (const Node* node : {&story.a, &story.b}) {
        if (node->engine.next_deadline() != engine::never) outcome.verdict += "a timer still runs\n";
    }
    for (const Sighting& sighting : story.wire.log()) {
        outcome.frames.push_back(sighting.frame);
        outcome.times.push_back(sighting.time);
    }
    if (!outcome.verdict.empty()) outcome.log = story.log();
    return outcome;
}

}  // namespace

TEST_CASE("property: random work through random weather comes out exactly once, in order, byte for byte") {
    for (const std::uint64_t seed : seeds(60)) {
        CAPTURE(seed);
        const Outcome outcome = tell(seed, 12);
        INFO(outcome.log);
        REQUIRE(outcome.verdict == "");
    }
}

TEST_CASE("property: the same seed gives a byte-equal wire log") {
    for (const std::uint64_t seed : seeds(6)) {
        CAPTURE(seed);
        const Outcome first = tell(seed, 8);
        const Outcome second = tell(seed, 8);
        CHECK(first.times == second.times);
        CHECK((first.frames == second.frames));
        CHECK(first.frames.size() > 10);
    }
}

}  // namespace rocem::test
