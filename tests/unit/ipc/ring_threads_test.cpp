// Two threads on one ring: TSan judges the order of the accesses, the echoes judge the bytes.
#include <catch2/catch.hpp>
#include <thread>

#include "ipc/dirty_bitmap.hpp"
#include "ring_support.hpp"

namespace rocem::test {
namespace {

TEST_CASE("ring__everything_crosses_once_and_whole") {
    constexpr std::uint64_t total = 200'000;
    TestRing ring(48, 64, 0xffffff00);
    std::thread other([&ring] {
        std::uint64_t next = 0;
        while (next < total) {
            const auto outstanding = ring.producer.outstanding();
            if (!outstanding || *outstanding == 48) {
                std::this_thread::yield();
                continue;
            }
            const std::uint32_t room = 48 - *outstanding;
            std::uint32_t count = 0;
            for (; count < room && next < total; ++count)
                ring.write(count, next++);
            ring.producer.publish(count);
        }
    });
    std::uint64_t expected = 0;
    std::uint64_t wrong = 0;
    while (expected < total) {
        const auto available = ring.consumer.available();
        if (!available) break;
        if (*available == 0) std::this_thread::yield();
        for (std::uint32_t i = 0; i < *available; ++i) {
            const Entry entry = ring.read();
            for (const std::uint64_t echo : entry.echo)
                wrong += echo != expected;
            wrong += entry.number != expected;
            ++expected;
        }
        if (*available > 0) ring.consumer.give_back();
    }
    other.join();
    CHECK(expected == total);
    CHECK(wrong == 0);
}

TEST_CASE("dirty_bitmap__no_mark_is_lost_between_marker_and_taker") {
    constexpr std::uint32_t slots = 130;  // three leaves
    constexpr std::uint32_t rounds = 2000;
    auto bitmap = std::make_unique<ipc::Bitmap>();
    std::vector<std::uint32_t> published(slots, 0);
    std::atomic<bool> done{false};
    std::thread marker([&] {
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            for (std::uint32_t slot = 0; slot < slots; ++slot) {
                ipc::store_shared(published[slot], round, std::memory_order_release);
                ipc::mark(*bitmap, slot);
            }
        }
        done.store(true);
    });
    std::vector<std::uint32_t> seen(slots, 0);
    const auto take = [&] {
        ipc::take_marked(*bitmap, [&](std::uint32_t slot) {
            seen.at(slot) = ipc::load_shared(published[slot], std::memory_order_acquire);
        });
    };
    while (!done.load())
        take();
    marker.join();
    take();
    // Whoever marked last finds its value seen.
    CHECK(seen == std::vector<std::uint32_t>(slots, rounds));
    CHECK_FALSE(ipc::any_marked(*bitmap));
}

}  // namespace
}  // namespace rocem::test
