// The frames that stories write by hand are the frames that protocol/ reads, for every RC opcode of this NIC.
#include <catch2/catch.hpp>

#include "protocol/packet.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/node.hpp"
#include "tests/support/roce_frame.hpp"

namespace rocem::test {

TEST_CASE("a frame written by hand is parsed and accepted field by field") {
    for (std::uint8_t number = 0; number <= 0x14; ++number) {
        RocePacket packet;
        packet.opcode = static_cast<Op>(number);
        CAPTURE(name_of(packet.opcode));
        packet.solicited_event = true;
        packet.mig_req = number % 2 == 0;
        packet.dest_qpn = 0x123456;
        packet.ack_request = true;
        packet.psn = 0xabcdef;
        packet.va = 0x1122334455667788;
        packet.r_key = 0x99aabbcc;
        packet.dma_length = 0x01020304;
        packet.swap_or_add = 0x8877665544332211;
        packet.compare = 0x0f0e0d0c0b0a0908;
        packet.syndrome = 0x6a;
        packet.msn = 0x654321;
        packet.original = 0x7766554433221100;
        packet.immediate = 0xcafef00d;
        packet.payload = pattern(8);
        const Address from = address_of(1);
        const Address to = address_of(2);
        const auto frame = write_frame(packet, from, to);

        const auto parsed = protocol::parse_frame(frame);
        REQUIRE(parsed.has_value());
        const protocol::Gid gids[] = {gid_of(to)};
        CHECK(protocol::accept(*parsed, {mac_of(to), gids, {}, false}).accepted);
        const protocol::RocePacket& roce = parsed->roce;
        CHECK(roce.bth.solicited_event);
        CHECK(roce.bth.mig_req == packet.mig_req);
        CHECK(roce.bth.dest_qp.value() == packet.dest_qpn);
        CHECK(roce.bth.ack_request);
        CHECK(roce.bth.psn.value() == packet.psn);
        CHECK(same_bytes(roce.payload, packet.payload));
        CHECK(protocol::source_gid(*parsed) == gid_of(from));

        // And back: what was not on the wire reads as nothing.
        const RocePacket again = read_frame(frame);
        CHECK(again.opcode == packet.opcode);
        CHECK(again.psn == packet.psn);
        CHECK(same_bytes(again.payload, packet.payload));
        if (again.va != 0) CHECK(again.va == packet.va);
        if (packet.opcode == Op::write_only) {
            CHECK(roce.reth.va == packet.va);
            CHECK(roce.reth.r_key.value() == packet.r_key);
            CHECK(roce.reth.dma_length == packet.dma_length);
        }
        if (packet.opcode == Op::compare_swap) {
            CHECK(roce.atomic_eth.va == packet.va);
            CHECK(roce.atomic_eth.swap_or_add == packet.swap_or_add);
            CHECK(roce.atomic_eth.compare == packet.compare);
        }
        if (packet.opcode == Op::atomic_acknowledge) {
            CHECK(roce.aeth.msn.value() == packet.msn);
            CHECK(roce.atomic_ack_eth.original == packet.original);
        }
    }
}

}  // namespace rocem::test
