#include "tools/rocem-replay/side_file.hpp"

#include <catch2/catch.hpp>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::tools {
namespace {

using Catch::Matchers::Contains;

std::string error_of(const std::string& text) {
    const auto file = parse_side_file(text);
    return file ? "" : file.error();
}

TEST_CASE("a side file gives every fact about a responder", "[side_file]") {
    const auto file = parse_side_file(R"({
        "command": "B: server / A: client", "cut": true,
        "responders": [{
            "qpn": "0x52", "address": "10.77.0.2", "answers_lost": true, "acks": "coalesced",
            "not_received": [3, 7], "mtu": 512, "expected_psn": "0xfffffe", "msn": 9,
            "access": ["remote_write", "remote_read"], "max_dest_rd_atomic": 4, "min_rnr_timer": 14,
            "regions": [{"va": "0x7f0000000000", "length": 4096, "r_key": "0x6120",
                         "access": ["local_write", "remote_atomic"], "initial": {"repeat": "c0c1"},
                         "changed_by_application": true}],
            "receives": [{"count": 64, "length": 100}, {"count": 1, "length": 0, "before_frame": 115}]
        }]})");
    REQUIRE(file);
    CHECK(file->command == "B: server / A: client");
    CHECK(file->cut);
    REQUIRE(file->responders.size() == 1);
    const ResponderFacts& facts = file->responders.front();
    CHECK(facts.qpn == protocol::Qpn(0x52));
    CHECK(facts.address == protocol::Gid::from_string("10.77.0.2"));
    CHECK(facts.answers_lost);
    CHECK_FALSE(facts.absent);
    CHECK(facts.acks == AckHabit::coalesced);
    CHECK(facts.not_received == std::set<std::size_t>{3, 7});
    CHECK(facts.mtu->bytes() == 512);
    CHECK(facts.expected_psn == protocol::Psn(0xfffffe));
    CHECK(facts.msn == protocol::Msn(9));
    CHECK(facts.access == (engine::access_remote_write | engine::access_remote_read));
    CHECK(facts.max_dest_rd_atomic == 4);
    CHECK(facts.min_rnr_timer == 14);
    REQUIRE(facts.regions->size() == 1);
    const RegionFact& region = facts.regions->front();
    CHECK(region.va == 0x7f0000000000);
    CHECK(region.length == 4096);
    CHECK(region.r_key == protocol::RKey(0x6120));
    CHECK(region.access == (engine::access_local_write | engine::access_remote_atomic));
    CHECK(region.initial_bytes == std::vector<std::byte>{std::byte{0xc0}, std::byte{0xc1}});
    CHECK(region.initial_bytes_repeat);
    CHECK(region.changed_by_application);
    REQUIRE(facts.receives->size() == 2);
    CHECK(facts.receives->at(0).count == 64);
    CHECK(facts.receives->at(0).length == 100);
    CHECK(facts.receives->at(0).before_frame == 0);
    CHECK(facts.receives->at(1).before_frame == 115);
}

TEST_CASE("what a side file does not give is not there", "[side_file]") {
    const auto file = parse_side_file(R"({"responders": [{"qpn": 5}]})");
    REQUIRE(file);
    CHECK_FALSE(file->cut);
    const ResponderFacts& facts = file->responders.front();
    CHECK_FALSE(facts.mtu);
    CHECK_FALSE(facts.regions);
    CHECK_FALSE(facts.receives);
    CHECK_FALSE(facts.access);
    CHECK(facts.acks == AckHabit::when_requested);
}

TEST_CASE("a ramp counts up by its step and once more every 256 bytes", "[side_file]") {
    const auto file = parse_side_file(R"({"responders": [{"qpn": 5, "regions": [
        {"va": 0, "length": 9, "r_key": 256, "access": [], "initial": {"ramp": 7}}]}]})");
    REQUIRE(file);
    const auto& bytes = file->responders.front().regions->front().initial_bytes;
    CHECK(bytes.at(1) == std::byte{7});
    CHECK(bytes.at(255) == std::byte{0xf9});  // 7 * 255 = 0x6f9
    CHECK(bytes.at(256) == std::byte{1});     // 7 * 256 + 1
    CHECK(bytes.at(1024) == std::byte{4});
}

TEST_CASE("a side file's responder is found by number, and by address where it has one", "[side_file]") {
    const auto file = parse_side_file(R"({"responders": [
        {"qpn": "0x16", "address": "10.77.0.1", "msn": 1}, {"qpn": "0x16", "address": "fd77::2", "msn": 2},
        {"qpn": "0x17", "msn": 3}]})");
    REQUIRE(file);
    const auto gid = [](const char* text) { return *protocol::Gid::from_string(text); };
    CHECK(file->find(gid("10.77.0.1"), protocol::Qpn(0x16))->msn == protocol::Msn(1));
    CHECK(file->find(gid("fd77::2"), protocol::Qpn(0x16))->msn == protocol::Msn(2));
    CHECK(file->find(gid("10.77.0.9"), protocol::Qpn(0x17))->msn == protocol::Msn(3));
    CHECK(file->find(gid("10.77.0.9"), protocol::Qpn(0x16)) == nullptr);
}

TEST_CASE("a wrong side file is refused with the place of the mistake", "[side_file]") {
    CHECK_THAT(error_of("{"), Contains("line 1"));
    CHECK_THAT(error_of("[]"), Contains("expected an object"));
    CHECK_THAT(error_of(R"({"cuts": true})"), Contains("/cuts: unknown key"));
    CHECK_THAT(error_of(R"({"cut": 1})"), Contains("/cut: expected true or false, found 1"));
    CHECK_THAT(error_of(R"({"cut": true, "cut": false})"), Contains("cut"));
    CHECK_THAT(error_of(R"({"responders": {}})"), Contains("/responders: expected a list"));
    CHECK_THAT(error_of(R"({"responders": [{}]})"), Contains("/responders/0/qpn: missing"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": -1}]})"),
               Contains("/responders/0/qpn: expected a number"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": "16"}]})"), Contains("/responders/0/qpn"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": "0x1000000"}]})"), Contains("/responders/0/qpn"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "mtu": 1500}]})"),
               Contains("/responders/0/mtu: expected one of 256"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "acks": "never"}]})"), Contains("/responders/0/acks"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "access": ["write"]}]})"),
               Contains("/responders/0/access"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "min_rnr_timer": 32}]})"), Contains("from 0 to 31"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "address": "10.0.0"}]})"),
               Contains("/responders/0/address"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "not_received": [0]}]})"),
               Contains("/responders/0/not_received"));
    CHECK_THAT(error_of(R"({"responders": [{"qpn": 1, "receives": [{"count": 0, "length": 1}]}]})"),
               Contains("/responders/0/receives/0/count"));
}

std::string region_error(const std::string& region) {
    return error_of(R"({"responders": [{"qpn": 1, "regions": [)" + region + "]}]}");
}

TEST_CASE("a region that no engine registers is refused", "[side_file]") {
    CHECK_THAT(region_error(R"({"va": 0, "length": 1, "r_key": 1})"), Contains("/regions/0/access: missing"));
    CHECK_THAT(region_error(R"({"va": 0, "length": 0, "r_key": 1, "access": []})"),
               Contains("at least one byte"));
    CHECK_THAT(region_error(R"({"va": "0xffffffffffffffff", "length": 2, "r_key": 1, "access": []})"),
               Contains("below 2^64"));
    CHECK_THAT(region_error(R"({"va": 0, "length": 1, "r_key": 1, "access": ["remote_write"]})"),
               Contains("local_write"));
    CHECK_THAT(region_error(R"({"va": 0, "length": 1, "r_key": 1, "access": [], "initial": {}})"),
               Contains("one of repeat"));
    CHECK_THAT(
        region_error(R"({"va": 0, "length": 1, "r_key": 1, "access": [], "initial": {"repeat": "C0"}})"),
        Contains("hexadecimal"));
    CHECK_THAT(region_error(R"({"va": 0, "length": 1, "r_key": "0x100", "access": []},
                               {"va": 9, "length": 1, "r_key": "0x101", "access": []})"),
               Contains("/regions/1/r_key"));
}

TEST_CASE("the side file stands beside the capture", "[side_file]") {
    CHECK(side_file_path("pcaps/rxe/t_rnr.pcap") == "pcaps/rxe/t_rnr.json");
    CHECK(side_file_path("a.b/capture") == "a.b/capture.json");
    const auto none = read_side_file("/nonexistent/capture.pcap");
    REQUIRE(none);
    CHECK_FALSE(*none);
}

}  // namespace
}  // namespace rocem::tools
