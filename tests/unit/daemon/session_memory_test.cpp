#include "daemon/control/session_memory.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace rocem::daemon;

TEST_CASE("small objects share a segment, aligned and apart") {
    SessionMemory memory({.bytes_max = 16 << 20, .segments_max = 4});
    std::vector<ObjectMemory> objects;
    for (int i = 0; i < 10; ++i)
        objects.push_back(*memory.allocate(1000));
    CHECK(memory.segments() == 1);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        CHECK(rocem::ipc::holds(objects[i].ref, 1000));
        CHECK(objects[i].ref.segment_id == objects[0].ref.segment_id);
        if (i > 0) CHECK(objects[i].ref.offset >= objects[i - 1].ref.offset + 1000);
    }
}

TEST_CASE("a large object has a segment of its own, which goes with it") {
    SessionMemory memory({.bytes_max = 16 << 20, .segments_max = 4});
    const auto small = memory.allocate(64);
    const auto large = memory.allocate(2 << 20);
    CHECK(large->ref.segment_id != small->ref.segment_id);
    CHECK(memory.segments() == 2);
    CHECK(memory.bytes() == (1 << 20) + (2 << 20));
    memory.release(large->ref);
    CHECK(memory.segments() == 1);
    memory.release(small->ref);
    CHECK(memory.segments() == 0);
    CHECK(memory.bytes() == 0);
}

TEST_CASE("freed room is used again, and neighbouring holes become one") {
    SessionMemory memory({.bytes_max = 1 << 20, .segments_max = 1});
    std::vector<ObjectMemory> objects;
    for (int i = 0; i < 16; ++i)
        objects.push_back(*memory.allocate(64 << 10));
    CHECK_FALSE(memory.allocate(64));
    memory.release(objects[4].ref);
    memory.release(objects[6].ref);
    CHECK_FALSE(memory.allocate(128 << 10));
    objects[5].address[0] = std::byte{0xff};
    memory.release(objects[5].ref);
    const auto joined = memory.allocate(192 << 10);
    REQUIRE(joined);
    CHECK(joined->ref.offset == objects[4].ref.offset);
    CHECK(objects[5].address[0] == std::byte{0});  // its ring words start anew
}

TEST_CASE("limits are exact, and absurd sizes do not wrap around") {
    SessionMemory memory({.bytes_max = 8192, .segments_max = 3});
    CHECK_FALSE(memory.make_segment("test", 8193));
    CHECK_FALSE(memory.make_segment("test", UINT64_MAX));
    CHECK_FALSE(memory.make_segment("test", UINT64_MAX - 4095));
    const auto first = memory.make_segment("test", 4096);
    const auto second = memory.make_segment("test", 1);
    CHECK(second->mapping.size() == 4096);
    const auto third = memory.make_segment("test", 1);
    REQUIRE_FALSE(third);
    CHECK(third.error().find("session_memory_bytes_max") != std::string::npos);
    memory.forget_segment(4096);
    CHECK(memory.make_segment("test", 4096));
}
