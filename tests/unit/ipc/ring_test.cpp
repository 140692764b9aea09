#include "ipc/ring.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <random>

#include "ring_support.hpp"

namespace rocem::test {
namespace {

TEST_CASE("ring__behaves_as_a_deque") {
    const auto seed = GENERATE(range(1u, 21u));
    CAPTURE(seed);
    std::mt19937 engine(seed);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    const std::uint32_t capacity = 1 + random() % 40;
    // Near 2^32, so that the indices wrap in every run.
    TestRing ring(capacity, std::bit_ceil(capacity), 0u - random() % 500);
    std::deque<std::uint64_t> expected;
    std::uint64_t next = 0;
    std::uint32_t not_given_back = 0;
    for (int step = 0; step < 4000; ++step) {
        REQUIRE(ring.producer.outstanding() == expected.size() + not_given_back);
        REQUIRE(ring.consumer.available() == expected.size());
        const auto used = static_cast<std::uint32_t>(expected.size()) + not_given_back;
        if (random() % 2 == 0) {
            const std::uint32_t count = random() % (capacity - used + 1);
            for (std::uint32_t i = 0; i < count; ++i) {
                ring.write(i, next);
                expected.push_back(next++);
            }
            ring.producer.publish(count);
        } else {
            for (auto count = random() % (expected.size() + 1); count > 0; --count) {
                REQUIRE(ring.read().number == expected.front());
                expected.pop_front();
                ++not_given_back;
            }
            if (random() % 2 == 0) {
                ring.consumer.give_back();
                not_given_back = 0;
            }
        }
    }
}

TEST_CASE("available__a_producer_index_outside_the_window_is_a_violation") {
    // Capacity 5 of 8 slots: the window ends at the capacity, not at the slots.
    TestRing ring(5, 8, 100);
    ring.words().producer = 105;
    CHECK(ring.consumer.available() == 5u);
    ring.words().producer = 106;
    CHECK(ring.consumer.available() == std::nullopt);
    ring.words().producer = 99;
    CHECK(ring.consumer.available() == std::nullopt);
    ring.words().producer = 100 + 0x80000000u;
    CHECK(ring.consumer.available() == std::nullopt);
}

TEST_CASE("available__what_was_taken_cannot_be_unpublished") {
    TestRing ring(4, 4, 0);
    for (std::uint32_t i = 0; i < 3; ++i)
        ring.write(i, i);
    ring.producer.publish(3);
    ring.read();
    ring.read();
    ring.words().producer = 1;
    CHECK(ring.consumer.available() == std::nullopt);
}

TEST_CASE("within__judges_an_index_from_a_command") {
    TestRing ring(4, 4, 0xfffffffe);
    CHECK(ring.consumer.within(0xfffffffe) == 0u);
    CHECK(ring.consumer.within(2) == 4u);
    CHECK(ring.consumer.within(3) == std::nullopt);
    CHECK(ring.consumer.within(0xfffffffd) == std::nullopt);
}

TEST_CASE("outstanding__a_consumer_index_outside_the_window_is_a_violation") {
    TestRing ring(4, 4, 10);
    ring.producer.publish(3);
    ring.words().consumer = 13;
    CHECK(ring.producer.outstanding() == 0u);
    ring.words().consumer = 14;  // gave back what it never got
    CHECK(ring.producer.outstanding() == std::nullopt);
    ring.words().consumer = 8;  // wants back what was given
    CHECK(ring.producer.outstanding() == std::nullopt);
}

TEST_CASE("ring__every_index_of_a_lying_peer_stays_inside_the_slots") {
    std::mt19937 engine(7);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    TestRing ring(3, 4, 0);
    for (int i = 0; i < 2000; ++i) {
        ring.words().producer = random();
        ring.words().consumer = random();
        const auto available = ring.consumer.available();
        if (available && *available > 0) ring.read();  // ASan watches
        const auto outstanding = ring.producer.outstanding();
        if (outstanding) CHECK(*outstanding <= 3);
    }
}

TEST_CASE("copy_next__copies_a_part") {
    TestRing ring(2, 2, 0);
    ring.write(0, 0x1122334455667788);
    ring.producer.publish(1);
    std::uint64_t part[2] = {};
    ring.consumer.copy_next(part, 8, 56);
    CHECK(part[0] == 0x1122334455667788);
    CHECK(part[1] == 0);
}

}  // namespace
}  // namespace rocem::test
