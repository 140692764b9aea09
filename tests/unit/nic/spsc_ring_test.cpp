// The ring against a deque.
#include "daemon/nic/spsc_ring.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <random>

namespace rocem::test {
namespace {

using daemon::SpscRing;

TEST_CASE("spsc ring: capacity is rounded up to a power of two", "[nic][ring]") {
    CHECK(SpscRing<int>(1).capacity() == 1);
    CHECK(SpscRing<int>(5).capacity() == 8);
    CHECK(SpscRing<int>(512).capacity() == 512);
}

TEST_CASE("spsc ring: behaves like a bounded deque", "[nic][ring]") {
    const unsigned seed = GENERATE(range(1u, 21u));
    const std::size_t capacity = GENERATE(1u, 2u, 8u, 64u);
    CAPTURE(seed, capacity);
    std::mt19937 random(seed);
    SpscRing<int> ring(capacity);
    std::deque<int> model;
    int next = 0;
    for (int step = 0; step < 500; ++step) {
        // Runs of pushes and of pops, so that both ends are met.
        const bool push = random() % 2 == 0;
        for (std::size_t run = random() % (capacity + 2); run > 0; --run) {
            if (push) {
                const bool fits = model.size() < capacity;
                REQUIRE(ring.push(next) == fits);
                if (fits) model.push_back(next);
                ++next;
            } else {
                int item = -1;
                REQUIRE(ring.pop(item) == !model.empty());
                if (model.empty()) continue;
                REQUIRE(item == model.front());
                model.pop_front();
            }
        }
        REQUIRE(ring.size() == model.size());
        REQUIRE(ring.room() == capacity - model.size());
        REQUIRE(ring.empty() == model.empty());
    }
}

}  // namespace
}  // namespace rocem::test
