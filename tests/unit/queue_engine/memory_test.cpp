// Who may touch which bytes: keys, domains, bounds at the ends of the address space.
#include "queue_engine/memory.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::engine {
namespace {

constexpr std::uint32_t all_access =
    access_local_write | access_remote_write | access_remote_read | access_remote_atomic;

struct Fixture {
    DeviceLimits limits;
    Random random{std::array<std::uint8_t, 32>{1}};
    Memory memory{limits};
    PdHandle pd = *memory.create_pd();

    Expected<MrInfo> add(std::uint64_t va, std::uint64_t length, std::uint32_t access = all_access) {
        return memory.register_mr(pd, {va, length, access, 77, {}}, random);
    }
    bool allows(const MrInfo& mr, std::uint64_t va, std::uint64_t length, std::uint32_t access = 0) const {
        return memory.translate(mr.l_key.value(), pd, va, length, access).has_value();
    }
};

}  // namespace

TEST_CASE("memory: the bounds of a region, to the byte") {
    Fixture f;
    const MrInfo mr = *f.add(0x1000, 0x100);
    CHECK(f.allows(mr, 0x1000, 0x100));
    CHECK(f.allows(mr, 0x10ff, 1));
    CHECK(f.allows(mr, 0x1100, 0));
    CHECK_FALSE(f.allows(mr, 0xfff, 1));
    CHECK_FALSE(f.allows(mr, 0x10ff, 2));
    CHECK_FALSE(f.allows(mr, 0x1100, 1));
    CHECK_FALSE(f.allows(mr, 0x1000, 0x101));
    CHECK_FALSE(f.allows(mr, 0x1101, 0));
}

TEST_CASE("memory: sums that wrap at 2^64 reach nothing") {
    Fixture f;
    const MrInfo low = *f.add(0x1000, 0x1000);
    CHECK_FALSE(f.allows(low, 0xfffffffffffff000, 0x2000));
    CHECK_FALSE(f.allows(low, 0xfffffffffffff000, 0x2100));
    CHECK_FALSE(f.allows(low, 0x1800, UINT64_MAX));
    CHECK_FALSE(f.allows(low, 0x1000, UINT64_MAX - 0xfff));
    CHECK_FALSE(f.allows(low, UINT64_MAX, 1));

    const MrInfo high = *f.add(UINT64_MAX - 0x100, 0x100);
    CHECK(f.allows(high, UINT64_MAX - 1, 1));
    CHECK_FALSE(f.allows(high, UINT64_MAX - 1, 3));
    CHECK_FALSE(f.add(UINT64_MAX - 0x10, 0x100).has_value());
}

TEST_CASE("memory: a translation names the region and the bytes' place in it") {
    Fixture f;
    const MrInfo mr = *f.add(0x1000, 0x100);
    const auto at = f.memory.translate(mr.l_key.value(), f.pd, 0x1020, 4, access_remote_read);
    REQUIRE(at.has_value());
    CHECK(at->region == 77);
    CHECK(at->region_offset == 0x20);
}

TEST_CASE("memory: every access bit that is asked for must be there") {
    Fixture f;
    const std::uint32_t granted = GENERATE(0u, 1u, 3u, 4u, 5u, 9u, 15u);
    const MrInfo mr = *f.add(0, 16, granted);
    for (std::uint32_t wanted = 0; wanted < 16; ++wanted)
        CHECK(f.allows(mr, 0, 16, wanted) == ((wanted & ~granted) == 0));
}

TEST_CASE("memory: remote write and remote atomic demand local write, unknown bits are refused") {
    Fixture f;
    CHECK(f.add(0, 16, access_remote_write).error() == Error::invalid);
    CHECK(f.add(0, 16, access_remote_atomic).error() == Error::invalid);
    CHECK(f.add(0, 16, 1u << 4).error() == Error::invalid);
    CHECK(f.add(0, f.limits.max_mr_size + 1).error() == Error::invalid);
    CHECK(f.add(0, f.limits.max_mr_size).has_value());
}

TEST_CASE("memory: a key works in its own domain, and only whole") {
    Fixture f;
    const PdHandle other = *f.memory.create_pd();
    const MrInfo mr = *f.add(0, 16);
    const std::uint32_t key = mr.r_key.value();
    CHECK(mr.l_key.value() == key);
    CHECK(f.memory.translate(key, f.pd, 0, 16, 0).has_value());
    CHECK_FALSE(f.memory.translate(key, other, 0, 16, 0).has_value());
    for (unsigned bit = 0; bit < 32; ++bit)
        CHECK_FALSE(f.memory.translate(key ^ 1u << bit, f.pd, 0, 16, 0).has_value());
}

TEST_CASE("memory: keys are distinct in their upper 24 bits, never of index 0, and differ between seeds") {
    Fixture f;
    std::set<std::uint32_t> indices;
    for (int i = 0; i < 2'000; ++i)
        indices.insert(f.add(0, 16)->r_key.value() >> 8);
    CHECK(indices.size() == 2'000);
    CHECK(indices.count(0) == 0);
    CHECK(*indices.rbegin() - *indices.begin() > 1u << 23);  // spread over the whole space
    Random another(std::array<std::uint8_t, 32>{2});
    const auto key = f.memory.register_mr(f.pd, {0, 16, 0, 1, {}}, another);
    CHECK(indices.count(key->r_key.value() >> 8) == 0);
}

TEST_CASE("memory: a key that is asked for is given once") {
    Fixture f;
    const MrSpec spec{0, 16, all_access, 1, protocol::RKey(0x1234)};
    const auto mr = f.memory.register_mr(f.pd, spec, f.random);
    REQUIRE(mr.has_value());
    CHECK(mr->r_key == protocol::RKey(0x1234));
    CHECK(f.memory.register_mr(f.pd, spec, f.random).error() == Error::invalid);
    CHECK(f.memory.deregister_mr(mr->handle) == Error::none);
    CHECK(f.memory.register_mr(f.pd, spec, f.random).has_value());
}

TEST_CASE("memory: a deregistered key is dead at once, the region stays until its DMA is answered") {
    Fixture f;
    const MrInfo mr = *f.add(0, 16);
    const auto at = f.memory.translate(mr.l_key.value(), f.pd, 0, 16, 0);
    f.memory.dma_started(at->mr);
    f.memory.dma_started(at->mr);
    CHECK(f.memory.deregister_mr(mr.handle) == Error::none);
    CHECK_FALSE(f.allows(mr, 0, 16));
    CHECK(f.memory.deregister_mr(mr.handle) == Error::not_found);
    CHECK(f.memory.destroy_pd(f.pd) == Error::none);
    f.memory.dma_answered(at->mr);
    CHECK(f.memory.exists(mr.handle));
    f.memory.dma_answered(at->mr);
    CHECK_FALSE(f.memory.exists(mr.handle));
    CHECK(f.memory.mr_count() == 0);
}

TEST_CASE("memory: a domain in use is busy, one that is gone is not found") {
    Fixture f;
    const MrInfo mr = *f.add(0, 16);
    CHECK(f.memory.destroy_pd(f.pd) == Error::busy);
    f.memory.attach(f.pd);
    CHECK(f.memory.deregister_mr(mr.handle) == Error::none);
    CHECK(f.memory.destroy_pd(f.pd) == Error::busy);
    f.memory.detach(f.pd);
    CHECK(f.memory.destroy_pd(f.pd) == Error::none);
    CHECK(f.memory.destroy_pd(f.pd) == Error::not_found);
    CHECK(f.add(0, 16).error() == Error::not_found);
}

TEST_CASE("memory: the maxima are exact") {
    DeviceLimits limits;
    limits.max_pd = 2;
    limits.max_mr = 3;
    Memory memory(limits);
    Random random(std::array<std::uint8_t, 32>{});
    const PdHandle pd = *memory.create_pd();
    CHECK(memory.create_pd().has_value());
    CHECK(memory.create_pd().error() == Error::no_memory);
    for (int i = 0; i < 3; ++i)
        CHECK(memory.register_mr(pd, {0, 16, 0, 1, {}}, random).has_value());
    CHECK(memory.register_mr(pd, {0, 16, 0, 1, {}}, random).error() == Error::no_memory);
}

}  // namespace rocem::engine
