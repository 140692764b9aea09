#include "config/mtu.hpp"

#include <catch2/catch.hpp>

using namespace rocem::config;
using rocem::protocol::PathMtu;

TEST_CASE("mtu: the interface that a path MTU needs") {
    // 40 IPv6 + 8 UDP + 12 BTH + 4 XRCETH + 16 RETH + 4 ImmDt + 4 ICRC = 88
    CHECK(required_interface_mtu(PathMtu::mtu_256) == 344);
    CHECK(required_interface_mtu(PathMtu::mtu_1024) == 1112);
    CHECK(required_interface_mtu(PathMtu::mtu_4096) == 4184);
}

TEST_CASE("mtu: the largest frame has 14 bytes of Ethernet and two VLAN tags more") {
    CHECK(largest_frame_bytes(PathMtu::mtu_256) == 366);
    CHECK(largest_frame_bytes(PathMtu::mtu_1024) == 1134);
    CHECK(largest_frame_bytes(PathMtu::mtu_4096) == 4206);
}

TEST_CASE("mtu: the active MTU of an interface") {
    CHECK(active_mtu_for_interface(1500) == PathMtu::mtu_1024);
    CHECK(active_mtu_for_interface(9000) == PathMtu::mtu_4096);
    CHECK(active_mtu_for_interface(1280) == PathMtu::mtu_1024);
    CHECK(active_mtu_for_interface(4200) == PathMtu::mtu_4096);
    CHECK(active_mtu_for_interface(65536) == PathMtu::mtu_4096);
}

TEST_CASE("mtu: one byte too few is the next smaller MTU") {
    CHECK(active_mtu_for_interface(4184) == PathMtu::mtu_4096);
    CHECK(active_mtu_for_interface(4183) == PathMtu::mtu_2048);
    CHECK(active_mtu_for_interface(1111) == PathMtu::mtu_512);
    CHECK(active_mtu_for_interface(344) == PathMtu::mtu_256);
    CHECK_FALSE(active_mtu_for_interface(343).has_value());
    CHECK_FALSE(active_mtu_for_interface(0).has_value());
}
