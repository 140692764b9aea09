#include "config/identity.hpp"

#include <catch2/catch.hpp>

#include "config/address_text.hpp"

using namespace rocem::config;
using rocem::protocol::MacAddress;

namespace {

std::vector<std::string> texts(const std::vector<rocem::protocol::Gid>& gids) {
    std::vector<std::string> lines;
    for (const auto& gid : gids)
        lines.push_back(ip_text(gid));
    return lines;
}

NicSettings nic_with(std::vector<std::string> addresses) {
    NicSettings nic;
    nic.mac = *MacAddress::from_string("02:00:00:00:00:01");
    for (const std::string& address : addresses)
        nic.addresses.push_back(*parse_interface_address(address));
    return nic;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("identity: EUI-64 of a MAC") {
    // RFC 4291, appendix A: the universal/local bit is turned, ff:fe goes into the middle.
    CHECK(eui64(*MacAddress::from_string("34:56:78:9a:bc:de")) == 0x365678fffe9abcde);
    CHECK(eui64(*MacAddress::from_string("02:00:00:00:00:01")) == 0x000000fffe000001);
}

TEST_CASE("identity: the link-local GID") {
    CHECK(ip_text(link_local_gid(*MacAddress::from_string("34:56:78:9a:bc:de"))) ==
          "fe80::3656:78ff:fe9a:bcde");
}

TEST_CASE("identity: the GID table is link-local, then the addresses in their order") {
    CHECK(texts(gid_table(nic_with({"fd00::1/64", "10.1.0.1/24", "fd00::2/64"}))) ==
          Lines{"fe80::ff:fe00:1", "fd00::1", "10.1.0.1", "fd00::2"});
}

TEST_CASE("identity: IPv4 first, on demand") {
    NicSettings nic = nic_with({"fd00::1/64", "10.1.0.1/24", "10.1.0.2/24"});
    nic.gid_ipv4_first = true;
    CHECK(texts(gid_table(nic)) == Lines{"10.1.0.1", "10.1.0.2", "fe80::ff:fe00:1", "fd00::1"});
}

TEST_CASE("identity: no link-local GID, on demand") {
    NicSettings nic = nic_with({"10.1.0.1/24"});
    nic.gid_link_local = false;
    CHECK(texts(gid_table(nic)) == Lines{"10.1.0.1"});
}

TEST_CASE("identity: a link-local address that is configured stands once") {
    CHECK(texts(gid_table(nic_with({"10.1.0.1/24", "fe80::ff:fe00:1/64"}))) ==
          Lines{"fe80::ff:fe00:1", "10.1.0.1"});
}
