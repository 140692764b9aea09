#include "phases.hpp"

#include <catch2/catch.hpp>

#include "failure.hpp"

namespace rocem::tools {
namespace {

Plan plan_of(std::uint32_t verbs, std::initializer_list<std::uint32_t> sizes) {
    Plan plan;
    plan.verbs = verbs;
    for (const std::uint32_t size : sizes)
        plan.sizes[plan.size_count++] = size;
    plan.iterations = 10;
    plan.depth = 16;
    return plan;
}

constexpr std::uint32_t all_verbs = 0x7f;

TEST_CASE("phases_of__each_verb_with_each_size_atomics_once") {
    const auto phases = phases_of(plan_of(all_verbs, {1, 5000}));
    REQUIRE(phases.size() == 5 * 2 + 2);
    CHECK(phases[0].verb == Verb::send);
    CHECK(phases[1].size == 5000);
    CHECK(phases[10].verb == Verb::cas);
    CHECK(phases[10].size == 8);
    CHECK(phases[11].verb == Verb::faa);
    CHECK(phases[0].seed != phases[1].seed);
}

TEST_CASE("phases_of__total_bytes_are_made_up") {
    Plan plan = plan_of(1u << static_cast<unsigned>(Verb::write), {1000});
    plan.total_bytes = 2001;
    CHECK(phases_of(plan)[0].messages == 3);
    plan.total_bytes = 2000;
    CHECK(phases_of(plan)[0].messages == 2);
    plan.sizes[0] = 0;
    CHECK_THROWS_AS(phases_of(plan), Failure);
}

TEST_CASE("phases_of__large_messages_go_in_small_windows") {
    const auto phases = phases_of(plan_of(1, {1, 16u << 20, 1u << 30}));
    CHECK(phases[0].depth == 16);
    CHECK(phases[1].depth == 4);
    CHECK(phases[2].depth == 1);
    CHECK(buffer_bytes(phases) == std::uint64_t{1} << 30);
    CHECK(slot_bytes(phases[0]) == 64);
}

TEST_CASE("phases_of__a_plan_out_of_range_is_refused") {
    Plan plan = plan_of(1, {1});
    plan.magic = 1;
    CHECK_THROWS_AS(phases_of(plan), Failure);
    plan = plan_of(1, {1});
    plan.depth = 0;
    CHECK_THROWS_AS(phases_of(plan), Failure);
    plan.depth = depth_max + 1;
    CHECK_THROWS_AS(phases_of(plan), Failure);
    plan = plan_of(1, {(1u << 30) + 1});
    CHECK_THROWS_AS(phases_of(plan), Failure);
    plan = plan_of(1, {1});
    plan.size_count = 17;
    CHECK_THROWS_AS(phases_of(plan), Failure);
}

TEST_CASE("atomic_script__keeps_a_word_as_the_nic_must") {
    Phase phase;
    phase.seed = 5;
    for (const Verb verb : {Verb::cas, Verb::faa}) {
        phase.verb = verb;
        AtomicScript script(phase);
        std::uint64_t word = script.word();
        unsigned unchanged = 0;
        for (int i = 0; i < 100; ++i) {
            const AtomicScript::Step step = script.next();
            REQUIRE(step.original == word);
            const std::uint64_t before = word;
            if (verb == Verb::faa) {
                word += step.compare_add;
            } else if (word == step.compare_add) {
                word = step.swap;
            }
            unchanged += word == before;
            REQUIRE(script.word() == word);
        }
        CHECK(unchanged == (verb == Verb::cas ? 25 : 0));
    }
}

}  // namespace
}  // namespace rocem::tools
