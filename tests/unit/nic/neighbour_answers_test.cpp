// What a NIC answers for its own addresses: ARP, neighbour solicitation, ping.
#include "tests/unit/nic/neighbour_rig.hpp"

namespace rocem::test {
namespace {

TEST_CASE("neighbours: an ARP request for our address is answered", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(arp_request_for_us));
    CHECK(rig.said() == frame(arp_reply_by_us));
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: ARP that is not for us is not answered", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(arp_request_for_another));
    CHECK(rig.hear(arp_request_to_another_mac));
    CHECK(rig.hear(arp_claim_of_our_address));
    CHECK(rig.hear(arp_reply_for_us));
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: a solicitation is answered with a solicited advertisement", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(solicitation_for_us));
    CHECK(rig.said() == frame(advertisement_by_us));
    CHECK(rig.said() == "");
}

// RFC 4861 7.2.4: an unspecified source is answered at all nodes, with the solicited flag clear.
TEST_CASE("neighbours: a duplicate address check is answered to all nodes", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(duplicate_check));
    CHECK(rig.said() == frame(answer_to_duplicate_check));
}

TEST_CASE("neighbours: false solicitations are not answered", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(solicitation_hop_limit_254));  // RFC 4861 7.1.1
    Bytes bytes = from_hex(solicitation_for_us);
    bytes[bytes.size() - 1] ^= std::byte{0x10};  // checksum
    CHECK(rig.hear(to_hex(bytes)));
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: ping is answered", "[nic][neighbours]") {
    NeighbourRig rig;
    SECTION("IPv4") {
        CHECK(rig.hear(ping_v4));
        CHECK(rig.said() == frame(ping_v4_reply));
    }
    SECTION("IPv6") {
        CHECK(rig.hear(ping_v6));
        CHECK(rig.said() == frame(ping_v6_reply));
    }
    // Ethernet pads short frames; the padding is no part of the message.
    SECTION("IPv4, from a frame with padding") {
        CHECK(rig.hear(std::string(ping_v4) + "000000000000000000000000ff"));
        CHECK(rig.said() == frame(ping_v4_reply));
    }
}

TEST_CASE("neighbours: a damaged or doubtful ping is not answered", "[nic][neighbours]") {
    NeighbourRig rig;
    const auto hear_damaged = [&rig](std::string_view hex, std::size_t at) {
        Bytes bytes = from_hex(hex);
        bytes[at] ^= std::byte{1};
        CHECK(rig.hear(to_hex(bytes)));
    };
    constexpr std::size_t ttl_at = 14 + 8;
    hear_damaged(ping_v4, from_hex(ping_v4).size() - 1);
    hear_damaged(ping_v4, ttl_at);  // the IPv4 header has its own checksum
    hear_damaged(ping_v6, from_hex(ping_v6).size() - 1);
    CHECK(rig.said() == "");
    rig.hear(ping_v4_fragment);
    rig.hear(ping_v6_unspecified);  // RFC 4443 4.2 has no address to answer to
    CHECK(rig.said() == "");
    CHECK(rig.hear(ping_v4_reply));  // for somebody else's MAC address
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: other frames are none of their business", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK_FALSE(rig.hear("020000000001 020000000002 88cc 0207040200000000020000"));  // LLDP
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: a flood of requests is answered up to a bound", "[nic][neighbours]") {
    NeighbourRig rig;
    for (std::size_t i = 0; i < 2 * daemon::Neighbours::frames_max; ++i)
        rig.hear(arp_request_for_us);
    std::size_t answers = 0;
    while (rig.said() != "")
        ++answers;
    CHECK(answers == daemon::Neighbours::frames_max);
    CHECK_FALSE(rig.neighbours.transmit_pending());
}

}  // namespace
}  // namespace rocem::test
