// Every reason for which the engine refuses a packet is reached by one, is returned, and is counted by its
// name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

using protocol::DropReason;

struct Row {
    DropReason reason;
    std::function<void(Script&)> provoke;
    ScriptOptions options = {};
};

constexpr RemoteAddress anywhere{0x1000, protocol::RKey(7)};

std::uint64_t all_drops(const Script& peer) {
    const auto& drops = peer.nic.counters().drops;
    return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

// Says packet after packet until one is dropped.
void until_dropped(Script& peer, const std::function<RocePacket(std::int32_t)>& packet) {
    for (std::int32_t i = 0; i < 20'000 && all_drops(peer) == 0; ++i)
        peer.hear(packet(i));
}

std::vector<Row> rows() {
    return {
        {DropReason::unknown_qp,
         [](Script& peer) {
             RocePacket packet = peer.request(Op::send_only, 0, 8);
             packet.dest_qpn ^= 1;
             peer.hear(packet);
         }},
        {DropReason::wrong_service,
         [](Script& peer) { peer.hear(peer.request(static_cast<Op>(0x24), 0, 8)); }},
        {DropReason::qp_state,
         [](Script& peer) { peer.hear(peer.request(Op::send_only, 0, 8)); },
         {{}, engine::QpState::init}},
        {DropReason::source_address_mismatch,
         [](Script& peer) {
             peer.hear_frame(write_frame(peer.request(Op::send_only, 0, 8), address_of(3), peer.nic.address));
         }},
        {DropReason::destination_address_mismatch,
         [](Script& peer) {
             peer.hear_frame(write_frame(peer.request(Op::send_only, 0, 8), address_of(2),
                                         second_address_of(peer.nic.address)));
         }},
        {DropReason::p_key_mismatch,
         [](Script& peer) {
             RocePacket packet = peer.request(Op::send_only, 0, 8);
             packet.p_key = 0x1234;
             peer.hear(packet);
         }},
        {DropReason::out_of_sequence, [](Script& peer) { peer.hear(peer.request(Op::send_only, 1, 8)); }},
        {DropReason::invalid_duplicate,
         [](Script& peer) {
             const Buffer source = peer.nic.buffer(64);
             peer.hear(peer.request(Op::read_request, 0, 0, source, 8));
             peer.hear(peer.request(Op::read_request, 0, 0, source, 16));
         }},
        {DropReason::duplicate_queue_full,
         [](Script& peer) {
             const Buffer source = peer.nic.buffer(64);
             peer.hear(peer.request(Op::read_request, 0, 0, source, 8));
             peer.nic.memory.hold();
             until_dropped(peer,
                           [&](std::int32_t) { return peer.request(Op::read_request, 0, 0, source, 8); });
             peer.nic.memory.release();
             peer.settle();
         }},
        {DropReason::receiver_not_ready, [](Script& peer) { peer.hear(peer.request(Op::send_only, 0, 8)); }},
        {DropReason::invalid_request,
         [](Script& peer) { peer.hear(peer.request(Op::send_middle, 0, 1024)); }},
        {DropReason::remote_access,
         [](Script& peer) { peer.hear(peer.request(Op::write_only, 0, 8, peer.nic.buffer(4), 8)); }},
        {DropReason::remote_operation,
         [](Script& peer) {
             SgeList sges = peer.nic.buffer(8).all();
             sges[0].l_key = protocol::LKey(0xdeadbeef);
             peer.post(receive(1, sges));
             peer.hear(peer.request(Op::send_only, 0, 8));
         }},
        {DropReason::ghost_response, [](Script& peer) { peer.hear(peer.ack(3, 1)); }},
        {DropReason::bad_response,
         [](Script& peer) {
             peer.post(read(1, peer.nic.buffer(3000).all(), anywhere));
             peer.hear(peer.response(Op::read_response_only, 0, 8));
         }},
        {DropReason::unsupported_operation,
         [](Script& peer) {
             // SEND ONLY with invalidate: four bytes of IETH, here the first of the payload.
             peer.hear(peer.request(static_cast<Op>(0x17), 0, 12));
         }},
        {DropReason::backlog_full,
         [](Script& peer) {
             const Buffer target = peer.nic.buffer(64);
             peer.nic.memory.hold();
             until_dropped(peer,
                           [&](std::int32_t i) { return peer.request(Op::write_only, i, 8, target, 8); });
             peer.nic.memory.release();
             peer.settle();
         },
         {{.dma_ops_max = 64}}},
    };
}

}  // namespace

TEST_CASE("every drop reason of the engine is reached, returned and counted") {
    for (const Row& row : rows()) {
        CAPTURE(protocol::drop_reason_name(row.reason));
        Script peer(row.options);
        row.provoke(peer);
        const std::vector<DropReason> drops = peer.nic.take_drops();
        CHECK(std::count(drops.begin(), drops.end(), row.reason) == 1);
        CHECK(drops.size() == 1);
        CHECK(peer.nic.drops(row.reason) == 1);
    }
}

TEST_CASE("a packet behind one that ended the connection is dropped, in the same burst too") {
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    peer.nic.deliver(peer.frame_of(peer.request(Op::send_middle, 0, 1024)));
    peer.nic.deliver(peer.frame_of(peer.request(Op::write_only, 1, 8, target, 8)));
    peer.settle();
    const auto drops = peer.nic.take_drops();
    REQUIRE(drops.size() == 2);
    CHECK(drops[0] == DropReason::invalid_request);
    CHECK((drops[1] == DropReason::after_fatal_error || drops[1] == DropReason::qp_state));
    CHECK(peer.says() == "NAK_INVALID_REQUEST psn=+0 msn=0\n");
    CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
}

TEST_CASE("a packet behind one that ended the connection is dropped while the end still waits for its turn") {
    Script peer;
    const Buffer target = peer.nic.buffer(64);
    peer.nic.memory.hold();
    peer.hear(peer.request(Op::write_only, 0, 8, target, 8));
    peer.hear(peer.request(Op::send_middle, 1, 1024));
    CHECK(peer.says() == "");  // what the NAK acknowledges is not committed yet
    peer.hear(peer.request(Op::write_only, 2, 8, target, 8, 8));
    const auto drops = peer.nic.take_drops();
    REQUIRE(drops.size() == 2);
    CHECK(drops[1] == DropReason::after_fatal_error);
    peer.nic.memory.release();
    peer.settle();
    // The WRITE before it may be acknowledged by itself, or by the NAK.
    const std::string said = peer.says();
    CHECK((said == "NAK_INVALID_REQUEST psn=+1 msn=1\n" ||
           said == "ACK psn=+0 msn=1\nNAK_INVALID_REQUEST psn=+1 msn=1\n"));
    CHECK(same_bytes(target.bytes.subspan(8), std::vector<std::byte>(56)));
}

}  // namespace rocem::test
