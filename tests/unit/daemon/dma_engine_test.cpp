#include "daemon/dma_engine.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "daemon/mapped_road.hpp"

using namespace rocem::daemon;
using rocem::engine::DmaAnswer;
using rocem::engine::DmaKind;
using rocem::engine::DmaOp;
using rocem::engine::QpHandle;

namespace {

// A road that answers when the test says so.
class LateRoad final : public DmaRoad {
 public:
    bool answers_at_once() const override { return false; }

    std::optional<DmaAnswer> move(const DmaOp& op, const DmaRegion& region) override {
        keys.push_back(region.road_key);
        waiting.push_back(op);
        return std::nullopt;
    }

    std::size_t collect(std::span<DmaAnswer> answers) override {
        std::size_t count = 0;
        while (count < answers.size() && answerable > 0 && !waiting.empty()) {
            answers[count++] = {.id = waiting.front().id, .ok = true, .original = 7};
            waiting.pop_front();
            --answerable;
        }
        return count;
    }

    std::deque<DmaOp> waiting;
    std::vector<std::uint64_t> keys;
    std::size_t answerable = 0;
};

struct Fixture {
    Fixture() : dma(regions, {.ops_max = 16, .rx_frames_max = 4}) {
        dma.add_late_road(late);
        bytes.fill(std::byte{0xA5});
        mapped_name =
            regions.add({.road = &mapped, .base = bytes.data(), .length = bytes.size(), .road_key = 0});
        late_name = regions.add({.road = &late, .base = nullptr, .length = 64, .road_key = 99});
    }

    DmaOp write(std::uint64_t id, std::uint64_t region, std::uint32_t qp) {
        return {.id = id,
                .kind = DmaKind::write,
                .last_byte_last = true,
                .qp = QpHandle{qp, 1},
                .region = region,
                .region_offset = 8,
                .length = 4,
                .from_frame = frame.data(),
                .rx_token = 2};
    }

    std::vector<std::uint64_t> answered() {
        std::vector<std::uint64_t> ids;
        for (const DmaAnswer& answer : dma.answers())
            ids.push_back(answer.id);
        dma.clear_answers();
        return ids;
    }

    alignas(8) std::array<std::byte, 64> bytes{};
    std::array<std::byte, 8> frame{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    MappedRoad mapped;
    LateRoad late;
    RegionTable regions;
    DmaEngine dma;
    std::uint64_t mapped_name = 0;
    std::uint64_t late_name = 0;
};

}  // namespace

TEST_CASE("a write to mapped memory lands in place and touches nothing beside it") {
    Fixture f;
    f.dma.submit(f.write(5, f.mapped_name, 0));
    REQUIRE(f.dma.answers().size() == 1);
    CHECK(f.dma.answers()[0].id == 5);
    CHECK(f.dma.answers()[0].ok);
    for (std::size_t i = 0; i < f.bytes.size(); ++i) {
        const bool inside = i >= 8 && i < 12;
        CHECK(f.bytes[i] == (inside ? std::byte(i - 7) : std::byte{0xA5}));
    }
}

TEST_CASE("a read copies out of mapped memory") {
    Fixture f;
    f.bytes[10] = std::byte{0x42};
    std::array<std::byte, 3> out{};
    f.dma.submit({.id = 1,
                  .kind = DmaKind::read,
                  .qp = {},
                  .region = f.mapped_name,
                  .region_offset = 9,
                  .length = 3,
                  .to_frame = out.data()});
    CHECK(f.dma.answers()[0].ok);
    CHECK(out == std::array<std::byte, 3>{std::byte{0xA5}, std::byte{0x42}, std::byte{0xA5}});
}

TEST_CASE("an operation outside its region, or on memory that is gone, is a fault and moves nothing") {
    Fixture f;
    const auto untouched = f.bytes;
    struct Case {
        std::uint64_t offset;
        std::uint32_t length;
        bool ok;
    };
    const std::array<Case, 7> cases{{{60, 4, true},
                                     {61, 4, false},
                                     {64, 0, true},
                                     {65, 0, false},
                                     {UINT64_MAX, 4, false},
                                     {UINT64_MAX - 3, 4, false},
                                     {0, UINT32_MAX, false}}};
    for (const Case& c : cases) {
        CAPTURE(c.offset, c.length);
        f.bytes = untouched;
        DmaOp op = f.write(1, f.mapped_name, 0);
        op.region_offset = c.offset;
        op.length = c.length;
        f.dma.submit(op);
        REQUIRE(f.dma.answers().size() == 1);
        CHECK(f.dma.answers()[0].ok == c.ok);
        if (!c.ok) CHECK(f.bytes == untouched);
        f.dma.clear_answers();
    }
    f.bytes = untouched;
    f.regions.remove(f.mapped_name);
    const std::uint64_t successor =
        f.regions.add({.road = &f.mapped, .base = f.bytes.data(), .length = 64, .road_key = 0});
    CHECK(successor != f.mapped_name);
    f.dma.submit(f.write(2, f.mapped_name, 0));
    CHECK_FALSE(f.dma.answers()[0].ok);
    CHECK(f.bytes == untouched);
}

TEST_CASE("atomics change eight aligned bytes and answer the value before") {
    Fixture f;
    const auto load = [&] {
        std::uint64_t value = 0;
        std::memcpy(&value, f.bytes.data() + 16, 8);
        return value;
    };
    const std::uint64_t start = 41;
    std::memcpy(f.bytes.data() + 16, &start, 8);
    DmaOp op{.id = 1,
             .kind = DmaKind::fetch_add,
             .qp = {},
             .region = f.mapped_name,
             .region_offset = 16,
             .length = 8,
             .compare = 0,
             .swap_or_add = 1};
    f.dma.submit(op);
    CHECK(f.dma.answers()[0].original == 41);
    CHECK(load() == 42);
    f.dma.clear_answers();

    op.kind = DmaKind::compare_swap;
    op.compare = 41;
    op.swap_or_add = 7;
    f.dma.submit(op);
    CHECK(f.dma.answers()[0].ok);
    CHECK(f.dma.answers()[0].original == 42);
    CHECK(load() == 42);
    f.dma.clear_answers();

    op.compare = 42;
    f.dma.submit(op);
    CHECK(f.dma.answers()[0].original == 42);
    CHECK(load() == 7);
    f.dma.clear_answers();

    op.kind = DmaKind::fetch_add;
    op.swap_or_add = UINT64_MAX;
    f.dma.submit(op);
    CHECK(load() == 6);
    f.dma.clear_answers();

    op.region_offset = 17;
    f.dma.submit(op);
    CHECK_FALSE(f.dma.answers()[0].ok);
    CHECK(load() == 6);
}

TEST_CASE("the last byte of a message is seen last") {
    Fixture f;
    std::vector<std::byte> memory(4096 + 64);
    std::vector<std::byte> payload(4099);
    const std::uint64_t name =
        f.regions.add({.road = &f.mapped, .base = memory.data(), .length = memory.size(), .road_key = 0});
    std::atomic<int> round{0};
    std::atomic<int> seen{0};
    std::atomic<bool> torn{false};
    constexpr int rounds = 200;
    std::thread reader([&] {
        for (int r = 1; r <= rounds; ++r) {
            while (round.load(std::memory_order_acquire) < r)
                std::this_thread::yield();
            const std::atomic_ref<std::byte> last(memory[3 + 4098]);
            const auto value = static_cast<std::byte>(r);
            while (last.load(std::memory_order_acquire) != value)
                std::this_thread::yield();
            for (std::size_t i = 3; i < 3 + 4099; ++i)
                torn = torn || memory[i] != value;
            seen.store(r, std::memory_order_release);
        }
    });
    for (int r = 1; r <= rounds; ++r) {
        std::fill(payload.begin(), payload.end(), static_cast<std::byte>(r));
        DmaOp op = f.write(1, name, 0);
        op.region_offset = 3;
        op.length = 4099;
        op.from_frame = payload.data();
        round.store(r, std::memory_order_release);
        f.dma.submit(op);
        f.dma.clear_answers();
        while (seen.load(std::memory_order_acquire) < r)
            std::this_thread::yield();
    }
    reader.join();
    CHECK_FALSE(torn);
}

TEST_CASE("a late road keeps its frame in use until it answers") {
    Fixture f;
    f.dma.submit(f.write(11, f.late_name, 3));
    CHECK(f.dma.answers().empty());
    CHECK(f.dma.pending() == 1);
    CHECK(f.dma.uses_frame(2));
    CHECK(f.late.keys == std::vector<std::uint64_t>{99});
    f.dma.collect();
    CHECK(f.dma.answers().empty());
    f.late.answerable = 1;
    f.dma.collect();
    CHECK(f.answered() == std::vector<std::uint64_t>{11});
    CHECK(f.dma.pending() == 0);
    CHECK_FALSE(f.dma.uses_frame(2));
}

TEST_CASE("answers keep the order of a QP across roads, and QPs do not wait for each other") {
    Fixture f;
    f.dma.submit(f.write(1, f.late_name, 0));
    f.dma.submit(f.write(2, f.mapped_name, 0));  // waits for 1
    f.dma.submit(f.write(3, f.late_name, 0));    // waits for 2
    f.dma.submit(f.write(4, f.mapped_name, 1));  // another QP
    f.dma.submit(f.write(5, 12345, 0));          // a fault waits its turn too
    CHECK(f.answered() == std::vector<std::uint64_t>{4});
    CHECK(f.late.waiting.size() == 1);
    f.late.answerable = 1;
    f.dma.collect();
    CHECK(f.answered() == std::vector<std::uint64_t>{1, 2});
    CHECK(f.dma.pending() == 2);
    f.late.answerable = 1;
    f.dma.collect();
    CHECK(f.answered() == std::vector<std::uint64_t>{3, 5});
    CHECK(f.dma.pending() == 0);
    CHECK_FALSE(f.dma.uses_frame(2));
}

TEST_CASE("operations of one QP on the same late road are not held back") {
    Fixture f;
    for (std::uint64_t id = 1; id <= 16; ++id)
        f.dma.submit(f.write(id, f.late_name, 0));
    CHECK(f.late.waiting.size() == 16);
    f.late.answerable = 16;
    f.dma.collect();
    CHECK(f.answered().size() == 16);
    // every slot came back
    for (std::uint64_t id = 1; id <= 16; ++id)
        f.dma.submit(f.write(id, f.late_name, 0));
    CHECK(f.late.waiting.size() == 16);
}
