#include "config/address_text.hpp"

#include <catch2/catch.hpp>

using namespace rocem::config;

TEST_CASE("address_text: a GUID") {
    CHECK(parse_guid("0200:00ff:fe00:0001") == 0x020000fffe000001);
    CHECK_FALSE(parse_guid("0200:00ff:fe00").has_value());
    CHECK_FALSE(parse_guid("0200:00ff:fe00:001").has_value());
}

TEST_CASE("address_text: an IP address there and back") {
    for (const char* text :
         {"10.1.0.1", "0.0.0.0", "255.255.255.255", "fd00::1", "::", "::1", "fe80::1:2:3:4"}) {
        CAPTURE(text);
        const auto gid = parse_ip(text);
        REQUIRE(gid.has_value());
        CHECK(ip_text(*gid) == text);
    }
    CHECK(parse_ip("10.1.0.1")->is_ipv4_mapped());
    CHECK_FALSE(parse_ip("::a01:1")->is_ipv4_mapped());
    // An IPv4 address is written as one.
    CHECK_FALSE(parse_ip("::ffff:10.1.0.1").has_value());
    for (const char* text : {"", "10.1.0", "10.1.0.256", "10.1.0.1 ", "fd00::1::2", "host", "fe80::1%1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_ip(text).has_value());
    }
}

TEST_CASE("address_text: an address in a network") {
    const auto in = [](const char* address, const char* other) {
        return in_prefix(*parse_interface_address(address), *parse_ip(other));
    };
    CHECK(in("10.1.0.1/24", "10.1.0.255"));
    CHECK_FALSE(in("10.1.0.1/24", "10.1.1.1"));
    CHECK(in("10.1.0.1/23", "10.1.1.1"));
    CHECK(in("10.1.0.1/1", "127.0.0.1"));
    CHECK_FALSE(in("10.1.0.1/1", "128.0.0.1"));
    CHECK(in("10.1.0.1/32", "10.1.0.1"));
    CHECK_FALSE(in("10.1.0.1/32", "10.1.0.0"));
    CHECK(in("fd00::1/64", "fd00::ffff:0:0:1"));
    CHECK_FALSE(in("fd00::1/64", "fd00:0:0:1::1"));
    CHECK(in("fd00::1/128", "fd00::1"));
    CHECK(in("fd00::1/127", "fd00::"));
    CHECK_FALSE(in("10.1.0.1/1", "::a01:1"));
}
