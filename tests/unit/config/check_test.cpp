// What two values of a configuration have to do with one another.
#include "config/check.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/config/documents.hpp"

using rocem::test::errors_of;
using rocem::test::good_pair;
using rocem::test::good_veth;
using rocem::test::Json;
using rocem::test::Lines;
using rocem::test::with;

TEST_CASE("check: names, MACs and addresses belong to one NIC") {
    CHECK(errors_of(with(good_pair(), "/nics/1/name", "rocem0")) ==
          Lines{"/nics/1/name: expected a name of its own, found rocem0 again (also at /nics/0/name)"});
    CHECK(errors_of(with(good_pair(), "/nics/1/mac", "02:00:00:00:00:01")) ==
          Lines{"/nics/1/mac: expected a MAC address of its own, found 02:00:00:00:00:01 again (also at "
                "/nics/0/mac)"});
    CHECK(errors_of(with(good_pair(), "/nics/1/addresses/0", "fd00:0::0:1/96")) ==
          Lines{"/nics/1/addresses/0: expected an address of its own, found fd00::1 again (also at "
                "/nics/0/addresses/1)"});
    CHECK(errors_of(with(good_pair(), "/nics/0/addresses/1", "10.1.0.1/16")).size() == 1);
}

TEST_CASE("check: a MAC is unicast") {
    for (const char* mac : {"01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"}) {
        CAPTURE(mac);
        CHECK(errors_of(with(good_pair(), "/nics/0/mac", mac)) ==
              Lines{std::string("/nics/0/mac: expected a unicast MAC address, found ") + mac});
    }
}

TEST_CASE("check: an address is one host's") {
    for (const char* address : {"10.1.0.0/24", "10.1.0.255/24", "127.0.0.1/8", "224.0.0.1/24",
                                "255.255.255.255/32", "0.0.0.0/8", "0.1.2.3/8", "ff02::1/64", "::/64"}) {
        CAPTURE(address);
        const Lines lines = errors_of(with(good_pair(), "/nics/0/addresses/0", address));
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find("/nics/0/addresses/0: expected an address of one host, found ") == 0);
    }
    for (const char* address : {"10.9.0.0/31", "10.9.0.1/31", "10.9.0.0/32", "fe80::1/64", "2001:db8::/64"}) {
        CAPTURE(address);
        CHECK(errors_of(with(good_pair(), "/nics/0/addresses/0", address)).empty());
    }
}

TEST_CASE("check: an address has a prefix length") {
    for (const char* address :
         {"10.1.0.1", "10.1.0.1/", "10.1.0.1/0", "10.1.0.1/33", "10.1.0.1/24 ", "10.1.0.1/-1", "fd00::1/129",
          "10.1.0/24", "010.1.0.1/24", "::ffff:10.1.0.1/96", "", "fd00::1%eth0/64"}) {
        CAPTURE(address);
        const Lines lines = errors_of(with(good_pair(), "/nics/0/addresses/0", address));
        REQUIRE(lines.size() == 1);
        CHECK(lines[0] ==
              "/nics/0/addresses/0: expected an address and its prefix length such as \"10.1.0.1/24\" or "
              "\"fd00::1/64\", found " +
                  Json(address).dump());
    }
}

TEST_CASE("check: a gateway is another host in reach") {
    CHECK(errors_of(with(good_pair(), "/nics/0/gateway_v4", "10.1.0.254")).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/gateway_v6", "fd00::fe")).empty());
    for (const char* gateway : {"10.1.1.254", "10.1.0.1"}) {
        CAPTURE(gateway);
        CHECK(errors_of(with(good_pair(), "/nics/0/gateway_v4", gateway)) ==
              Lines{"/nics/0/gateway_v4: expected another host in the network of one of the NIC's addresses, "
                    "found " +
                    std::string(gateway)});
    }
    CHECK(errors_of(with(good_pair(), "/nics/0/gateway_v4", "fd00::fe")) ==
          Lines{"/nics/0/gateway_v4: expected an IPv4 address such as \"10.1.0.254\", found \"fd00::fe\""});
    CHECK(errors_of(with(good_pair(), "/nics/0/gateway_v6", "gw")) ==
          Lines{"/nics/0/gateway_v6: expected an IPv6 address such as \"fd00::fe\", found \"gw\""});
}

TEST_CASE("check: a virtual wire has two ends") {
    CHECK(errors_of(with(good_pair(), "/nics/1/port/wire", "other")) ==
          Lines{"/nics/1/port/wire: expected two NICs on a virtual wire, found 1 on \"other\"",
                "/nics/0/port/wire: expected two NICs on a virtual wire, found 1 on \"pair\""});
    Json document = good_pair();
    document["nics"][2] = document["nics"][1];
    document["nics"][2]["name"] = "rocem2";
    document["nics"][2]["mac"] = "02:00:00:00:00:03";
    document["nics"][2]["addresses"][0] = "10.1.0.3/24";
    CHECK(errors_of(document).size() == 3);
    CHECK(errors_of(document)[2] ==
          "/nics/2/port/wire: expected two NICs on a virtual wire, found 3 on \"pair\"");
}

TEST_CASE("check: a NIC's worker exists") {
    CHECK(errors_of(with(good_pair(), "/nics/0/worker", "worker0")).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/worker", "fast")) ==
          Lines{"/nics/0/worker: expected the name of a worker, found \"fast\""});
    Json document = with(good_pair(), "/workers", Json::array({{{"name", "fast"}}}));
    CHECK(errors_of(document).empty());
    document["workers"][1]["name"] = "fast";
    CHECK(errors_of(document) ==
          Lines{"/workers/1/name: expected a name of its own, found fast again (also at /workers/0/name)"});
    document["workers"] = Json::array({{{"name", "a"}, {"cpu", 1}}, {{"name", "b"}, {"cpu", 1}}});
    CHECK(errors_of(document) ==
          Lines{"/workers/1/cpu: expected a CPU of its own, found 1 again (also at /workers/0/cpu)"});
}

TEST_CASE("check: ACKs are asked for before the window is full") {
    CHECK(errors_of(with(good_pair(), "/nics/0/window_packets", 8)).empty());
    Json document = with(good_pair(), "/nics/0/window_packets", 8);
    document["nics"][0]["ack_request_packets"] = 9;
    CHECK(errors_of(document) == Lines{"/nics/0/ack_request_packets: expected at most window_packets, 8, "
                                       "found 9: a full window would wait for "
                                       "an ACK that nobody asked for"});
}

TEST_CASE("check: a ring slot holds the largest frame") {
    // Path MTU 1024: 1024 + IPv6 40 + UDP 8 + BTH 12 + XRCETH 4 + RETH 16 + ImmDt 4 + ICRC 4 + Ethernet 14 +
    // two VLAN tags 8 = 1134 bytes of frame, and 80 before it in the slot: 1214, that is 1216 in steps of 16.
    Json document = with(good_veth(), "/nics/0/mtu", 1024);
    document["nics"][0]["port"]["frame_count"] = 64 * 76;
    document["nics"][0]["port"]["block_bytes"] = 4096 * 19;  // 64 slots of 1216, or 76 of 1024
    document["nics"][0]["port"]["frame_bytes"] = 1216;
    CHECK(errors_of(document).empty());
    document["nics"][0]["port"]["frame_bytes"] = 1024;
    CHECK(errors_of(document) == Lines{"/nics/0/port/frame_bytes: expected at least 1214 (path MTU 1024 + "
                                       "headers 110 + ring slot 80; larger "
                                       "frames would be cut), found 1024"});
    // The driver's own default loses frames of path MTU 2048 and above.
    document = with(good_veth(), "/nics/0/port/frame_bytes", 2048);
    CHECK(errors_of(document) == Lines{"/nics/0/port/frame_bytes: expected at least 4286 (path MTU 4096 + "
                                       "headers 110 + ring slot 80; larger "
                                       "frames would be cut), found 2048"});
}

TEST_CASE("check: a ring is made of whole blocks of whole slots") {
    CHECK(errors_of(with(good_veth(), "/nics/0/port/frame_bytes", 8191)) ==
          Lines{"/nics/0/port/frame_bytes: expected a multiple of 16, found 8191"});
    CHECK(errors_of(with(good_veth(), "/nics/0/port/block_bytes", 12288)) ==
          Lines{"/nics/0/port/block_bytes: expected a multiple of frame_bytes, 8192, found 12288"});
    Json document = with(good_veth(), "/nics/0/port/block_bytes", 6144);
    document["nics"][0]["port"]["frame_bytes"] = 6144;
    CHECK(errors_of(document) ==
          Lines{"/nics/0/port/block_bytes: expected a multiple of the page size, 4096, found 6144"});
    document = with(good_veth(), "/nics/0/port/block_bytes", 32768);
    document["nics"][0]["port"]["frame_count"] = 510;
    CHECK(errors_of(document) ==
          Lines{"/nics/0/port/frame_count: expected a multiple of block_bytes / frame_bytes, 4, found 510"});
}

TEST_CASE("check: an interface and a capture file have one writer") {
    Json document = good_veth();
    document["nics"][1] = document["nics"][0];
    document["nics"][1]["name"] = "rocem1";
    document["nics"][1]["mac"] = "02:00:00:00:00:02";
    document["nics"][1]["addresses"][0] = "10.1.0.2/24";
    CHECK(errors_of(document) ==
          Lines{"/nics/1/port/interface: expected an interface of its own, found veth0 again (also "
                "at /nics/0/port/interface)"});
    document = with(good_pair(), "/nics/0/captures/wire", "a.pcap");
    document["nics"][0]["captures"]["engine"] = "a.pcap";
    CHECK(errors_of(document) ==
          Lines{"/nics/0/captures/engine: expected a file of its own, found a.pcap again (also at "
                "/nics/0/captures/wire)"});
}

TEST_CASE("check: a socket's path fits the kernel's structure") {
    CHECK(errors_of(with(good_pair(), "/socket/path", "/" + std::string(106, 's'))).empty());
    CHECK(errors_of(with(good_pair(), "/socket/path", "/" + std::string(107, 's'))) ==
          Lines{"/socket/path: expected at most 107 bytes, found 108"});
    CHECK(errors_of(with(good_pair(), "/socket/path", "rocemd.sock")) ==
          Lines{"/socket/path: expected the absolute path of a socket, found \"rocemd.sock\""});
}

TEST_CASE("check: a node GUID is not zero") {
    CHECK(errors_of(with(good_pair(), "/nics/0/node_guid", "0000:0000:0000:0000")) ==
          Lines{"/nics/0/node_guid: expected a GUID that is not zero"});
}
