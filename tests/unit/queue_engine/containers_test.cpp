// The bounded containers that the data path stands on: pool, ring, map of ids, slots by handle.
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "queue_engine/id_map.hpp"
#include "queue_engine/pool.hpp"
#include "queue_engine/ring_buffer.hpp"
#include "queue_engine/slot_table.hpp"

namespace rocem::engine {
namespace {

struct Value {
    int number = 0;
};
using ValueHandle = Handle<struct ValueTag>;

}  // namespace

TEST_CASE("pool: what is available can be allocated, and no more") {
    const std::uint32_t wanted = GENERATE(1u, 4u, 5u, 8u);  // rounded up to chunks of 4
    Pool<Value, 4> pool(wanted);
    const std::uint32_t available = pool.available();
    CHECK(available >= wanted);
    CHECK(available < wanted + 4);
    std::set<std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < available; ++i) {
        CHECK(pool.available() == available - i);
        nodes.insert(pool.allocate());
    }
    CHECK(nodes.size() == available);
    CHECK(nodes.count(no_node) == 0);
    CHECK(pool.available() == 0);
    CHECK(pool.allocate() == no_node);
    pool.release(*nodes.begin());
    CHECK(pool.available() == 1);
    CHECK(pool.allocate() == *nodes.begin());
}

TEST_CASE("pool: a node starts in its initial state and never moves") {
    Pool<Value, 2> pool(100);
    const std::uint32_t first = pool.allocate();
    Value* const address = &pool[first];
    pool[first].number = 7;
    for (int i = 0; i < 50; ++i)
        pool.allocate();
    CHECK(&pool[first] == address);
    CHECK(pool[first].number == 7);
    pool.release(first);
    CHECK(pool[pool.allocate()].number == 0);
}

TEST_CASE("ring buffer: like a deque, also when it grows in mid-turn") {
    std::mt19937 random(1);
    RingBuffer<int> ring(2);
    std::deque<int> model;
    for (int i = 0; i < 20'000; ++i) {
        if (model.empty() || random() % 100 < (i < 10'000 ? 60u : 40u)) {
            ring.push(i);
            model.push_back(i);
        } else {
            REQUIRE(ring.front() == model.front());
            ring.pop();
            model.pop_front();
        }
        REQUIRE(ring.size() == model.size());
        REQUIRE(ring.empty() == model.empty());
    }
}

TEST_CASE("id map: like a map, with ids that collide and go") {
    std::mt19937 random(2);
    constexpr std::uint32_t entries = 200;
    IdMap map(entries);
    std::map<std::uint32_t, std::uint32_t> model;
    for (int i = 0; i < 100'000; ++i) {
        // Few ids, and close ones: long runs of neighbours, with holes torn into them.
        const auto id = static_cast<std::uint32_t>((random() % 400) << (random() % 2 == 0 ? 0 : 12));
        const auto found = model.find(id);
        REQUIRE(map.find(id) == (found == model.end() ? IdMap::none : found->second));
        if (found != model.end()) {
            map.erase(id);
            model.erase(found);
        } else if (model.size() < entries) {
            map.insert(id, static_cast<std::uint32_t>(i));
            model[id] = static_cast<std::uint32_t>(i);
        }
    }
    for (const auto& [id, slot] : model)
        REQUIRE(map.find(id) == slot);
    map.erase(0xabcdef);  // was never there
    CHECK(map.find(0xabcdef) == IdMap::none);
}

TEST_CASE("slot table: a handle never names its object's successor") {
    SlotTable<Value, ValueHandle> table(3);
    const ValueHandle first = table.emplace();
    table.find(first)->number = 1;
    CHECK(first);
    CHECK_FALSE(ValueHandle{});
    CHECK(table.find(ValueHandle{}) == nullptr);
    CHECK(table.find({99, 1}) == nullptr);

    table.erase(first);
    CHECK(table.find(first) == nullptr);
    std::set<std::uint32_t> generations;
    for (int i = 0; i < 10; ++i) {
        const ValueHandle next = table.emplace();
        CHECK_FALSE(next == first);
        CHECK(table.find(next)->number == 0);
        CHECK(table.find(first) == nullptr);
        CHECK(table.handle_at(next.index) == next);
        table.erase(next);
    }
    CHECK(table.size() == 0);
}

TEST_CASE("slot table: exactly as many as promised, the slot freed longest ago first") {
    SlotTable<Value, ValueHandle> table(3);
    const ValueHandle a = table.emplace();
    const ValueHandle b = table.emplace();
    CHECK_FALSE(table.full());
    const ValueHandle c = table.emplace();
    CHECK(table.full());
    CHECK(table.size() == 3);
    table.erase(b);
    table.erase(a);
    CHECK(table.emplace().index == b.index);
    CHECK(table.emplace().index == a.index);
    CHECK(table.full());
    CHECK(table.find(c) != nullptr);
}

}  // namespace rocem::engine
