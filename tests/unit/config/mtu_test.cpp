#include "config/mtu.hpp"

#include <catch2/catch.hpp>

using namespace rocem::config;

namespace {

rocem::protocol::PathMtu mtu(std::uint32_t bytes) {
    return *rocem::protocol::PathMtu::from_bytes(bytes);
}

}  // namespace

TEST_CASE("mtu: the interface that a path MTU needs") {
    // 40 IPv6 + 8 UDP + 12 BTH + 4 XRCETH + 16 RETH + 4 ImmDt + 4 ICRC = 88
    CHECK(required_interface_mtu(mtu(256)) == 344);
    CHECK(required_interface_mtu(mtu(1024)) == 1112);
    CHECK(required_interface_mtu(mtu(4096)) == 4184);
}

TEST_CASE("mtu: the largest frame has 14 bytes of Ethernet and two VLAN tags more") {
    CHECK(largest_frame_bytes(mtu(256)) == 366);
    CHECK(largest_frame_bytes(mtu(1024)) == 1134);
    CHECK(largest_frame_bytes(mtu(4096)) == 4206);
}

TEST_CASE("mtu: the active MTU of an interface") {
    CHECK(active_mtu_for_interface(1500) == mtu(1024));
    CHECK(active_mtu_for_interface(9000) == mtu(4096));
    CHECK(active_mtu_for_interface(1280) == mtu(1024));
    CHECK(active_mtu_for_interface(4200) == mtu(4096));
    CHECK(active_mtu_for_interface(65536) == mtu(4096));
}

TEST_CASE("mtu: one byte too few is the next smaller MTU") {
    CHECK(active_mtu_for_interface(4184) == mtu(4096));
    CHECK(active_mtu_for_interface(4183) == mtu(2048));
    CHECK(active_mtu_for_interface(1111) == mtu(512));
    CHECK(active_mtu_for_interface(344) == mtu(256));
    CHECK_FALSE(active_mtu_for_interface(343).has_value());
    CHECK_FALSE(active_mtu_for_interface(0).has_value());
}
