// DMA operations between question and answer, and the frames that wait for them.
#include "queue_engine/dma_table.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "queue_engine/tx_frames.hpp"

namespace rocem::engine {
namespace {

PendingDma pending_for(std::uint32_t reference) {
    PendingDma pending;
    pending.reference = reference;
    return pending;
}

DmaOp polled(DmaTable& table) {
    DmaOp op;
    REQUIRE(table.poll(op));
    return op;
}

PendingFrame frame(std::uint32_t dma_pending) {
    PendingFrame pending;
    pending.dma_pending = dma_pending;
    return pending;
}

std::vector<TxFrameId> ready(TxFrames& frames) {
    std::vector<TxFrameId> ids;
    for (TxFrameId id = 0; frames.poll_ready(id);)
        ids.push_back(id);
    return ids;
}

}  // namespace

TEST_CASE("dma table: operations come out in order, an answer finds what it belongs to, once") {
    DmaTable table(4);
    for (std::uint32_t i = 0; i < 4; ++i)
        table.start({}, pending_for(i));
    CHECK(table.available() == 0);
    std::vector<std::uint64_t> ids;
    for (DmaOp op; table.poll(op);)
        ids.push_back(op.id);
    REQUIRE(ids.size() == 4);
    PendingDma found;
    for (const std::uint32_t i : {2u, 0u, 3u, 1u}) {
        REQUIRE(table.finish(ids[i], found));
        CHECK(found.reference == i);
        CHECK_FALSE(table.finish(ids[i], found));
    }
    CHECK(table.available() == 4);
}

TEST_CASE("dma table: an id that names nothing is refused, also one of a slot's earlier tenant") {
    DmaTable table(1);
    PendingDma found;
    CHECK_FALSE(table.finish(0, found));
    CHECK_FALSE(table.finish(UINT64_MAX, found));
    table.start({}, pending_for(1));
    const std::uint64_t first = polled(table).id;
    REQUIRE(table.finish(first, found));
    table.start({}, pending_for(2));
    const std::uint64_t second = polled(table).id;
    CHECK(second != first);
    CHECK_FALSE(table.finish(first, found));
    REQUIRE(table.finish(second, found));
    CHECK(found.reference == 2);
}

TEST_CASE("dma table: bytes that stand in no frame stay where they are until the answer") {
    DmaTable table(2);
    DmaOp op;
    op.kind = DmaKind::write;
    PendingDma pending = pending_for(1);
    pending.own_bytes.fill(std::byte{0x5a});
    table.start(op, pending);
    pending.own_bytes.fill(std::byte{0xa5});
    table.start(op, pending);
    const DmaOp first = polled(table);
    const DmaOp second = polled(table);
    REQUIRE(first.from_frame != nullptr);
    CHECK(first.from_frame[0] == std::byte{0x5a});
    CHECK(second.from_frame[7] == std::byte{0xa5});
    PendingDma found;
    REQUIRE(table.finish(second.id, found));
    CHECK(first.from_frame[7] == std::byte{0x5a});
}

TEST_CASE("tx frames: a frame leaves when it is complete and none before it waits") {
    TxFrames frames(4);
    FrameQueue queue;
    const TxFrameId a = frames.append(queue, frame(1));
    const TxFrameId b = frames.append(queue, frame(0));
    const TxFrameId c = frames.append(queue, frame(2));
    frames.release_ready(queue);
    CHECK(ready(frames).empty());
    frames[a].dma_pending = 0;
    frames.release_ready(queue);
    CHECK(ready(frames) == std::vector<TxFrameId>{a, b});
    frames[c].dma_pending = 0;
    frames.release_ready(queue);
    CHECK(ready(frames) == std::vector<TxFrameId>{c});
    CHECK(queue.head == no_node);
    CHECK(queue.tail == no_node);
}

TEST_CASE("tx frames: one queue does not hold up another, and the slots are as many as promised") {
    TxFrames frames(3);
    FrameQueue slow;
    FrameQueue quick;
    frames.append(slow, frame(1));
    const TxFrameId id = frames.append(quick, frame(0));
    frames.append(slow, frame(0));
    CHECK(frames.full());
    CHECK(frames.available() == 0);
    frames.release_ready(slow);
    frames.release_ready(quick);
    CHECK(ready(frames) == std::vector<TxFrameId>{id});
    frames.free(id);
    CHECK_FALSE(frames.full());
    CHECK(frames.append(quick, frame(0)) == id);
}

}  // namespace rocem::engine
