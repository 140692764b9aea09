// Atomics happen once, whatever is lost (the row atomic-once; rocev2.md 5.2, 5.8.2).
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

std::uint64_t number_in(const Buffer& buffer) {
    std::uint64_t number = 0;
    std::memcpy(&number, buffer.bytes.data(), 8);
    return number;
}

void store(const Buffer& buffer, std::uint64_t number) {
    std::memcpy(buffer.bytes.data(), &number, 8);
}

}  // namespace

TEST_CASE("atomic-once: an answer lost once or three times does not add twice") {
    const DmaMode dma = ANY_DMA_MODE();
    const unsigned losses = GENERATE(0u, 1u, 3u);
    const bool swap = GENERATE(false, true);
    Story story({.dma = dma});
    const Buffer target = story.b.buffer(8);
    const Buffer result = story.a.buffer(8);
    store(target, 41);

    story.lose(atomic_ack().times(losses));
    story.a.post(swap ? compare_swap(1, result.all(), target.at(), 41, 42)
                      : fetch_add(1, result.all(), target.at(), 1));
    story.run();

    CHECK(number_in(target) == 42);
    CHECK(number_in(result) == 41);
    CHECK(story.a.sent() == (swap ? "wr=1 COMP_SWAP ok len=8\n" : "wr=1 FETCH_ADD ok len=8\n"));
    CHECK(story.b.counters().rx_atomic_requests == 1);
    CHECK(story.b.counters().duplicate_request == losses);
    const auto answers = story.sightings(atomic_ack());
    CHECK(answers.size() == losses + 1);
    for (const Sighting& answer : answers) {
        CHECK(answer.packet.original == 41);
        CHECK(answer.packet.msn == 1);
    }
}

TEST_CASE("COMPARE_SWAP leaves what does not match, and says what is there") {
    Story story({.dma = ANY_DMA_MODE()});
    const Buffer target = story.b.buffer(8);
    const Buffer result = story.a.buffer(8);
    store(target, 7);
    story.a.post(compare_swap(1, result.all(), target.at(), 8, 42));
    story.run();
    CHECK(number_in(target) == 7);
    CHECK(number_in(result) == 7);
}

TEST_CASE("5.2: atomic operands are big endian on the wire, the compare field of FETCH_ADD is zero") {
    Story story({.dma = ANY_DMA_MODE()});
    const Buffer target = story.b.buffer(16);
    const Buffer result = story.a.buffer(8);
    store(target, 0x0102030405060708);
    story.a.post(fetch_add(1, result.all(), target.at(), 0x1000));
    story.a.post(compare_swap(2, result.all(), target.at(), 0x0102030405061708, 0x1122334455667788));
    story.run();
    const auto requests = story.sightings(any_request());
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].packet.swap_or_add == 0x1000);
    CHECK(requests[0].packet.compare == 0);
    CHECK(requests[0].packet.va == target.va);
    CHECK(requests[0].packet.ack_request);
    CHECK(requests[1].packet.swap_or_add == 0x1122334455667788);
    CHECK(requests[1].packet.compare == 0x0102030405061708);
    CHECK(number_in(target) == 0x1122334455667788);
    CHECK(number_in(result) == 0x0102030405061708);
    CHECK(number_in(result) == story.sightings(atomic_ack())[1].packet.original);
}

TEST_CASE("FETCH_ADD wraps at 2^64") {
    Story story({.dma = ANY_DMA_MODE()});
    const Buffer target = story.b.buffer(8);
    const Buffer result = story.a.buffer(8);
    store(target, ~std::uint64_t{0});
    story.a.post(fetch_add(1, result.all(), target.at(), 2));
    story.run();
    CHECK(number_in(target) == 1);
    CHECK(number_in(result) == ~std::uint64_t{0});
}

TEST_CASE("atomics of many QPs on one word add up, whatever is lost") {
    const DmaMode dma = GENERATE(DmaMode{0}, DmaMode{1}, DmaMode{3, true}, DmaMode{17, true});
    constexpr unsigned pairs = 8;
    constexpr unsigned each = 16;
    Story story(
        {.dma = dma, .connections = pairs, .timeout = 8, .max_rd_atomic = 4, .max_dest_rd_atomic = 4});
    const Buffer target = story.b.buffer(8);
    const Buffer results = story.a.buffer(8 * pairs * each);
    story.wire.set_weather({.lost = 0.02, .duplicated = 0.02, .delayed = 0.02});
    for (unsigned i = 0; i < each; ++i) {
        for (unsigned qp = 0; qp < pairs; ++qp) {
            story.a.post(fetch_add(i, results.slice(8 * (qp * each + i), 8), target.at(), 1), qp);
        }
    }
    story.run();
    CHECK(story.a.take_sent().size() == pairs * each);
    CHECK(number_in(target) == pairs * each);
    std::vector<bool> seen(pairs * each);
    for (unsigned i = 0; i < pairs * each; ++i) {
        std::uint64_t before = 0;
        std::memcpy(&before, results.bytes.data() + 8 * i, 8);
        REQUIRE(before < pairs * each);
        CHECK_FALSE(seen[before]);
        seen[before] = true;
    }
}

}  // namespace rocem::test
