#include "protocol/ids.hpp"

#include <catch2/catch.hpp>
#include <type_traits>
#include <unordered_set>

using namespace rocem::protocol;

TEST_CASE("numbers keep the bits they have on the wire", "[ids]") {
    CHECK(Qpn(0x1abcdef).value() == 0xabcdef);
    CHECK(Msn(0xffffff).next() == Msn(0));
    CHECK(RKey(0xffffffff).value() == 0xffffffff);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<Qpn, RKey>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::uint32_t, Qpn>);
}

TEST_CASE("partition keys match by partition, with one full member at least", "[ids]") {
    const PKey full(0xffff);
    CHECK(full.matches(full));
    CHECK(full.matches(PKey(0x7fff)));
    CHECK(PKey(0x7fff).matches(full));
    CHECK_FALSE(PKey(0x7fff).matches(PKey(0x7fff)));  // two limited members
    CHECK_FALSE(full.matches(PKey(0x1234)));
    CHECK(PKey(0x9234).matches(PKey(0x1234)));
    CHECK_FALSE(PKey(0x8000).matches(PKey(0x8000)));  // partition 0 is invalid
    CHECK_FALSE(PKey(0).matches(PKey(0)));
}

TEST_CASE("MAC addresses as text", "[ids]") {
    const auto mac = MacAddress::from_string("02:0A:ff:00:00:01");
    REQUIRE(mac);
    CHECK(mac->to_string() == "02:0a:ff:00:00:01");
    CHECK_FALSE(mac->is_multicast());
    CHECK(MacAddress::broadcast().is_multicast());
    CHECK(MacAddress::from_string("33:33:00:00:00:01")->is_multicast());
    CHECK(MacAddress{}.is_zero());
    const auto wrong = GENERATE("", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
                                "02:00:00:00:00:0g", "02:00:00:00:00:01 ", "02:00:00:00:00:01:02");
    INFO(wrong);
    CHECK_FALSE(MacAddress::from_string(wrong));
}

TEST_CASE("IP addresses as text", "[ids]") {
    CHECK(Ipv4Address::from_string("10.77.0.1")->to_string() == "10.77.0.1");
    CHECK(Ipv4Address::from_string("224.0.0.1")->is_multicast());
    CHECK_FALSE(Ipv4Address::from_string("10.77.0"));
    CHECK_FALSE(Ipv4Address::from_string("10.77.0.256"));
    CHECK_FALSE(Ipv4Address::from_string("fd77::1"));

    const auto ipv6 = Ipv6Address::from_string("FD77:0:0::1");
    REQUIRE(ipv6);
    CHECK(ipv6->to_string() == "fd77::1");
    CHECK_FALSE(ipv6->is_link_local());
    CHECK(Ipv6Address::from_string("fe80::1")->is_link_local());
    CHECK(Ipv6Address::from_string("ff02::1")->is_multicast());
    CHECK(Ipv6Address::from_string("fd77::12:3456")->solicited_node().to_string() == "ff02::1:ff12:3456");
    CHECK_FALSE(Ipv6Address::from_string("10.77.0.1"));
    CHECK_FALSE(Ipv6Address::from_string(std::string(200, '1')));
}

TEST_CASE("GIDs are IPv6 addresses or mapped IPv4 addresses", "[ids]") {
    const auto mapped = Gid::from_string("10.77.0.1");
    REQUIRE(mapped);
    CHECK(mapped->is_ipv4_mapped());
    CHECK(mapped->to_string() == "::ffff:10.77.0.1");
    CHECK(mapped->as_ipv4().to_string() == "10.77.0.1");
    CHECK(*mapped == Gid::from_string("::ffff:10.77.0.1"));
    CHECK_FALSE(mapped->is_multicast());
    CHECK(Gid::from_string("239.1.2.3")->is_multicast());
    CHECK(Gid::from_string("ff0e::1")->is_multicast());
    CHECK_FALSE(Gid::from_string("fd77::1")->is_ipv4_mapped());
    CHECK(Gid{}.is_zero());
    CHECK_FALSE(Gid::from_string("nonsense"));
}

TEST_CASE("ids are keys of hash tables", "[ids]") {
    CHECK(std::unordered_set<Qpn>{Qpn(1), Qpn(2), Qpn(1)}.size() == 2);
    CHECK(std::unordered_set<PKey>{PKey(1), PKey(1)}.size() == 1);
    CHECK(std::unordered_set<MacAddress>{MacAddress{}, MacAddress::broadcast()}.size() == 2);
    CHECK(std::unordered_set<Gid>{*Gid::from_string("fd77::1"), *Gid::from_string("fd77::1")}.size() == 1);
}
