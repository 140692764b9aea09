// Finding next hops: asking, learning, refreshing, giving up.
#include "daemon/nic/neighbours.hpp"

#include "tests/unit/nic/neighbour_rig.hpp"

namespace rocem::test {
namespace {

using daemon::Neighbours;

TEST_CASE("neighbours: a peer on the link is asked for and its answer resolves", "[nic][neighbours]") {
    NeighbourRig rig;
    const std::uint64_t id = rig.resolve("10.1.0.2");
    CHECK(rig.resolved() == "");
    CHECK(rig.said() == frame(arp_request_by_us));
    CHECK(rig.said() == "");
    CHECK(rig.hear(arp_reply_for_us));
    CHECK(rig.resolved() == std::to_string(id) + " 02:00:00:00:00:02");
    CHECK(rig.resolved() == "");

    SECTION("a second question is answered at once, from memory") {
        rig.resolve("10.1.0.2");
        CHECK(rig.resolved() == "2 02:00:00:00:00:02");
        CHECK(rig.said() == "");
    }
}

TEST_CASE("neighbours: an IPv6 peer is asked for at its solicited-node group", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("fd00::2");
    CHECK(rig.said() == frame(solicitation_by_us));

    SECTION("its advertisement resolves") {
        CHECK(rig.hear(advertisement_for_us));
        CHECK(rig.resolved() == "1 02:00:00:00:00:02");
    }
    // RFC 4861 7.1.2: a hop limit other than 255 came through a router.
    SECTION("an advertisement from outside the link does not") {
        CHECK(rig.hear(advertisement_hop_limit_254));
        CHECK(rig.resolved() == "");
    }
    SECTION("nor does one with a wrong checksum") {
        Bytes bytes = from_hex(advertisement_for_us);
        bytes.back() ^= std::byte{1};
        CHECK(rig.hear(to_hex(bytes)));
        CHECK(rig.resolved() == "");
    }
    SECTION("its own solicitation for us resolves too") {
        CHECK(rig.hear(solicitation_for_us));
        CHECK(rig.resolved() == "1 02:00:00:00:00:02");
    }
}

TEST_CASE("neighbours: three asks a second apart, then timed out", "[nic][neighbours]") {
    NeighbourRig rig;
    const engine::Time start = rig.now;
    rig.resolve("10.1.0.2");
    CHECK(rig.said() == frame(arp_request_by_us));
    CHECK(rig.neighbours.next_deadline() == start + 1s);

    rig.pass(1s - 1ns);
    CHECK(rig.said() == "");
    rig.pass(1ns);
    CHECK(rig.said() == frame(arp_request_by_us));
    CHECK(rig.neighbours.next_deadline() == start + 2s);

    rig.pass(1s);
    CHECK(rig.said() == frame(arp_request_by_us));
    rig.pass(1s - 1ns);
    CHECK(rig.resolved() == "");
    rig.pass(1ns);
    CHECK(rig.said() == "");
    CHECK(rig.resolved() == "1 timed_out");
    CHECK(rig.neighbours.next_deadline() == engine::never);

    SECTION("a later question starts afresh") {
        rig.resolve("10.1.0.2");
        CHECK(rig.said() == frame(arp_request_by_us));
        CHECK(rig.neighbours.next_deadline() == rig.now + 1s);
    }
    SECTION("an answer that comes too late teaches nothing") {
        rig.hear(arp_reply_for_us);
        rig.resolve("10.1.0.2");
        CHECK(rig.resolved() == "");
    }
}

TEST_CASE("neighbours: all who wait for one next hop share its asks and its answer", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("10.1.0.2");
    rig.resolve("10.1.0.2");
    CHECK(rig.said() == frame(arp_request_by_us));
    CHECK(rig.said() == "");
    rig.hear(arp_reply_for_us);
    CHECK(rig.resolved() == "1 02:00:00:00:00:02");
    CHECK(rig.resolved() == "2 02:00:00:00:00:02");
}

TEST_CASE("neighbours: own and multicast addresses resolve at once", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("10.1.0.1");
    rig.resolve("fd00::1");
    rig.resolve("224.1.2.3");  // RFC 1112 6.4
    rig.resolve("ff0e::1:2");  // RFC 2464 7
    CHECK(rig.resolved() == "1 02:00:00:00:00:01");
    CHECK(rig.resolved() == "2 02:00:00:00:00:01");
    CHECK(rig.resolved() == "3 01:00:5e:01:02:03");
    CHECK(rig.resolved() == "4 33:33:00:01:00:02");
    CHECK(rig.said() == "");
}

TEST_CASE("neighbours: without a route the host is unreachable", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("10.2.0.9");
    rig.resolve("2001:db8::9");
    rig.resolve("::");
    CHECK(rig.resolved() == "1 host_unreachable");
    CHECK(rig.resolved() == "2 host_unreachable");
    CHECK(rig.resolved() == "3 host_unreachable");
    CHECK(rig.said() == "");
    CHECK(rig.neighbours.next_deadline() == engine::never);
}

TEST_CASE("neighbours: what is off the link goes over the gateway", "[nic][neighbours]") {
    daemon::NeighbourSettings settings = NeighbourRig::settings();
    settings.gateway_v4 = gid("10.1.0.254");
    settings.gateway_v6 = gid("fe80::fe");
    NeighbourRig rig(settings);
    CHECK(rig.neighbours.next_hop(gid("10.1.0.77")) == gid("10.1.0.77"));
    CHECK(rig.neighbours.next_hop(gid("fd00::77")) == gid("fd00::77"));
    CHECK(rig.neighbours.next_hop(gid("fe80::77")) == gid("fe80::77"));

    SECTION("IPv4") {
        rig.resolve("10.2.0.9");
        CHECK(rig.said() == frame(arp_request_for_gateway));
        rig.hear(arp_reply_from_gateway);
        CHECK(rig.resolved() == "1 02:00:00:00:00:fe");
        rig.resolve("192.0.2.1");  // the same gateway
        CHECK(rig.resolved() == "2 02:00:00:00:00:fe");
    }
    SECTION("IPv6, asked from the address of the gateway's prefix") {
        rig.resolve("2001:db8::9");
        CHECK(rig.said() == frame(solicitation_for_link_local_gateway));
    }
}

TEST_CASE("neighbours: prefixes need not end at a byte", "[nic][neighbours]") {
    daemon::NeighbourSettings settings = NeighbourRig::settings();
    settings.addresses = {{gid("10.1.0.1"), 23}, {gid("fd00::1"), 60}};
    const Neighbours neighbours(settings);
    CHECK(neighbours.next_hop(gid("10.1.1.9")) == gid("10.1.1.9"));
    CHECK(neighbours.next_hop(gid("10.1.2.9")) == std::nullopt);
    CHECK(neighbours.next_hop(gid("fd00:0:0:f::9")) == gid("fd00:0:0:f::9"));
    CHECK(neighbours.next_hop(gid("fd00:0:0:10::9")) == std::nullopt);
}

TEST_CASE("neighbours: only what was asked for is learned", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(arp_reply_for_us));
    CHECK(rig.hear(advertisement_for_us));
    rig.resolve("10.1.0.2");
    rig.resolve("fd00::2");
    CHECK(rig.resolved() == "");
}

TEST_CASE("neighbours: false ARP teaches nothing", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("10.1.0.2");
    rig.said();
    CHECK(rig.hear(arp_reply_with_multicast_sender));
    CHECK(rig.hear(arp_claim_of_our_address));
    CHECK(rig.hear(frame(arp_reply_for_us).substr(0, 80)));  // cut off
    CHECK(rig.resolved() == "");
    CHECK(rig.said() == "");
    rig.resolve("10.1.0.1");
    CHECK(rig.resolved() == "2 02:00:00:00:00:01");
}

TEST_CASE("neighbours: nobody can take our IPv6 address away", "[nic][neighbours]") {
    NeighbourRig rig;
    CHECK(rig.hear(advertisement_of_our_address));
    rig.resolve("fd00::1");
    CHECK(rig.resolved() == "1 02:00:00:00:00:01");
    daemon::NeighbourMove move;
    CHECK_FALSE(rig.neighbours.poll_moved(move));
}

TEST_CASE("neighbours: a neighbour that moved is reported", "[nic][neighbours]") {
    NeighbourRig rig;
    daemon::NeighbourMove move;
    rig.resolve("10.1.0.2");
    rig.hear(arp_reply_for_us);
    rig.hear(arp_reply_for_us);
    CHECK_FALSE(rig.neighbours.poll_moved(move));
    rig.hear(arp_reply_from_new_place);
    REQUIRE(rig.neighbours.poll_moved(move));
    CHECK(move.next_hop == gid("10.1.0.2"));
    CHECK(move.mac == mac("02:00:00:00:00:03"));
    CHECK_FALSE(rig.neighbours.poll_moved(move));
}

TEST_CASE("neighbours: after 30 s a neighbour is asked again, itself", "[nic][neighbours]") {
    NeighbourRig rig;
    rig.resolve("10.1.0.2");
    rig.said();
    rig.hear(arp_reply_for_us);
    rig.resolved();
    CHECK(rig.neighbours.next_deadline() == rig.now + 30s);
    rig.pass(30s - 1ns);
    CHECK(rig.said() == "");
    rig.pass(1ns);
    CHECK(rig.said() == frame(arp_request_by_us_to_known_peer));
    // Meanwhile the old answer serves.
    rig.resolve("10.1.0.2");
    CHECK(rig.resolved() == "2 02:00:00:00:00:02");

    SECTION("an answer makes it good for another 30 s") {
        rig.pass(500ms);
        rig.hear(arp_reply_for_us);
        CHECK(rig.neighbours.next_deadline() == rig.now + 30s);
    }
    SECTION("without one it is forgotten after three asks") {
        rig.pass(1s);
        rig.pass(1s);
        CHECK(rig.said() == frame(arp_request_by_us_to_known_peer));
        CHECK(rig.said() == frame(arp_request_by_us_to_known_peer));
        rig.pass(1s);
        CHECK(rig.said() == "");
        CHECK(rig.resolved() == "");
        CHECK(rig.neighbours.next_deadline() == engine::never);
        rig.resolve("10.1.0.2");
        CHECK(rig.said() == frame(arp_request_by_us));
    }
}

TEST_CASE("neighbours: the table has an end", "[nic][neighbours]") {
    daemon::NeighbourSettings settings = NeighbourRig::settings();
    settings.addresses = {{gid("10.1.0.1"), 16}};
    NeighbourRig rig(settings);
    for (std::size_t i = 0; i < Neighbours::neighbours_max; ++i)
        rig.resolve("10.1." + std::to_string(1 + i / 256) + "." + std::to_string(i % 256));
    CHECK(rig.resolved() == "");
    const std::uint64_t id = rig.resolve("10.1.200.1");
    CHECK(rig.resolved() == std::to_string(id) + " host_unreachable");
    // Those in it still get their answers.
    rig.resolve("10.1.1.0");
    CHECK(rig.resolved() == "");
}

}  // namespace
}  // namespace rocem::test
