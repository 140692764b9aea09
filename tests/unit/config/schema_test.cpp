// The shape of the document: keys, types, ranges and words, each error with its path and what was expected.
#include "config/schema.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/config/documents.hpp"

using rocem::test::errors_of;
using rocem::test::good_pair;
using rocem::test::good_veth;
using rocem::test::Json;
using rocem::test::Lines;
using rocem::test::with;

TEST_CASE("schema: the good documents are good") {
    CHECK(errors_of(good_pair()).empty());
    CHECK(errors_of(good_veth()).empty());
}

TEST_CASE("schema: one wrong value, one line") {
    struct Case {
        const char* pointer;
        Json value;
        const char* line;
    };
    const std::vector<Case> cases = {
        {"/nics/0/mtu", 1500, "/nics/0/mtu: expected one of 256, 512, 1024, 2048, 4096, found 1500"},
        {"/nics/0/mtu", "1024", "/nics/0/mtu: expected one of 256, 512, 1024, 2048, 4096, found \"1024\""},
        {"/nics/0/mac", "02:00",
         "/nics/0/mac: expected a MAC address such as \"02:00:00:00:00:01\", found \"02:00\""},
        {"/nics/0/mac", 2, "/nics/0/mac: expected a MAC address such as \"02:00:00:00:00:01\", found 2"},
        {"/nics/0/addresses", Json::array(), "/nics/0/addresses: expected 1 to 64 elements, found 0"},
        {"/nics/0/addresses", "10.1.0.1/24", "/nics/0/addresses: expected an array, found \"10.1.0.1/24\""},
        {"/nics/0/mig_req", 1, "/nics/0/mig_req: expected true or false, found 1"},
        {"/nics/0/window_packets", 0, "/nics/0/window_packets: expected an integer from 1 to 65536, found 0"},
        {"/nics/0/window_packets", 1.5,
         "/nics/0/window_packets: expected an integer from 1 to 65536, found 1.5"},
        {"/nics/0/window_packets", 128.0,
         "/nics/0/window_packets: expected an integer from 1 to 65536, found 128.0"},
        {"/nics/0/vendor_part_id", 4294967296,
         "/nics/0/vendor_part_id: expected an integer from 0 to 4294967295, "
         "found 4294967296"},
        {"/nics/0/name", "0rocem",
         "/nics/0/name: expected a name of 1 to 31 letters, digits, _ or -, a letter first, "
         "found \"0rocem\""},
        {"/nics/0/name", "a\nb",
         "/nics/0/name: expected a name of 1 to 31 letters, digits, _ or -, a letter first, "
         "found \"a\\nb\""},
        {"/nics/0/node_guid", "1",
         "/nics/0/node_guid: expected a GUID such as \"0200:00ff:fe00:0001\", found \"1\""},
        {"/nics/0/port/type", "tap",
         "/nics/0/port/type: expected one of \"virtual_wire\", \"af_packet\", found \"tap\""},
        {"/nics/0/port", "pair", "/nics/0/port: expected an object, found \"pair\""},
        {"/nics/1", 3, "/nics/1: expected an object, found 3"},
        {"/nics/0/faults/receive/loss", 1.5,
         "/nics/0/faults/receive/loss: expected a number from 0 to 1, found 1.5"},
        {"/nics/0/faults/transmit/delay_us", -1,
         "/nics/0/faults/transmit/delay_us: expected an integer from 0 to 60000000, found -1"},
        {"/nics/0/captures/wire", "", "/nics/0/captures/wire: expected the path of a file, found \"\""},
        {"/log_level", "loud",
         "/log_level: expected one of \"trace\", \"debug\", \"info\", \"warning\", \"error\", \"off\", "
         "found \"loud\""},
        {"/socket/mode", "660", "/socket/mode: expected an octal file mode such as \"0660\", found \"660\""},
        {"/socket/mode", 432, "/socket/mode: expected an octal file mode such as \"0660\", found 432"},
        {"/workers", Json::array(), "/workers: expected 1 to 64 elements, found 0"},
        {"/dpdk/memory_mib", 1, "/dpdk/memory_mib: expected an integer from 64 to 65536, found 1"},
        {"/limits/max_qp", 0, "/limits/max_qp: expected an integer from 1 to 16384, found 0"},
        {"/limits/max_msg_bytes", 2147483649,
         "/limits/max_msg_bytes: expected an integer from 4096 to 2147483648, "
         "found 2147483649"},
        {"/seed", 18446744073709551615U,
         "/seed: expected an integer from 0 to 9007199254740991, "
         "found 18446744073709551615"},
        {"/nics", Json::array(), "/nics: expected 1 to 64 elements, found 0"},
    };
    for (const Case& c : cases)
        CHECK(errors_of(with(good_pair(), c.pointer, c.value)) == Lines{c.line});
}

TEST_CASE("schema: the edges of a range are inside") {
    CHECK(errors_of(with(good_pair(), "/limits/max_msg_bytes", 2147483648)).empty());
    CHECK(errors_of(with(good_pair(), "/seed", 9007199254740991)).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/vendor_part_id", 4294967295)).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/faults/receive/loss", 1)).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/name", std::string(31, 'n'))).empty());
    CHECK(errors_of(with(good_pair(), "/nics/0/name", std::string(32, 'n'))).size() == 1);
}

TEST_CASE("schema: a number too large for any integer is no integer") {
    std::string text = good_pair().dump();
    text.insert(1, "\"seed\": 99999999999999999999999,");
    CHECK(errors_of(text) ==
          Lines{"/seed: expected an integer from 0 to 9007199254740991, found 9.999999999999999e+22"});
}

TEST_CASE("schema: an unknown key is named, with its likely meaning") {
    CHECK(errors_of(with(good_pair(), "/nics/0/windowpackets", 1)) ==
          Lines{"/nics/0/windowpackets: unknown key, did you mean \"window_packets\"?"});
    CHECK(errors_of(with(good_pair(), "/sokcet", Json::object())) ==
          Lines{"/sokcet: unknown key, did you mean \"socket\"?"});
    CHECK(errors_of(with(good_pair(), "/socket/colour", "red")) ==
          Lines{"/socket/colour: unknown key, expected one of \"group\", \"mode\", \"path\""});
}

TEST_CASE("schema: a missing key is named") {
    CHECK(errors_of(std::string("{}")) == Lines{"the key \"nics\" is missing"});
    Json document = good_pair();
    document["nics"][1].erase("mac");
    CHECK(errors_of(document) == Lines{"/nics/1: the key \"mac\" is missing"});
    CHECK(errors_of(with(good_pair(), "/workers/0", Json::object())) ==
          Lines{"/workers/0: the key \"name\" is missing"});
}

TEST_CASE("schema: a port has the keys of its type") {
    CHECK(errors_of(with(good_pair(), "/nics/0/port", Json{{"type", "af_packet"}, {"wire", "pair"}})) ==
          Lines{"/nics/0/port: the key \"interface\" is missing",
                "/nics/0/port/wire: unknown key, expected one of \"block_bytes\", \"frame_bytes\", "
                "\"frame_count\", "
                "\"interface\", \"type\""});
    CHECK(errors_of(with(good_pair(), "/nics/0/port", Json{{"wire", "pair"}})) ==
          Lines{"/nics/0/port: the key \"type\" is missing"});
}

TEST_CASE("schema: an interface name cannot carry arguments of the driver") {
    for (const char* name : {"veth0,framesz=1", "a b", "a/b", "", "sixteen-letters-", "-x", "."}) {
        CAPTURE(name);
        CHECK(errors_of(with(good_veth(), "/nics/0/port/interface", name)).size() == 1);
    }
    for (const char* name : {"veth0", "eth0.100", "enp0s31f6", "br-lan"}) {
        CAPTURE(name);
        CHECK(errors_of(with(good_veth(), "/nics/0/port/interface", name)).empty());
    }
}

TEST_CASE("schema: everything that is wrong is said at once") {
    Json document = with(good_pair(), "/nics/0/mtu", 1);
    document["nics"][1]["mtu"] = 2;
    document["log_level"] = 7;
    document["extra"] = nullptr;
    CHECK(errors_of(document).size() == 4);
}

TEST_CASE("schema: the document must be an object") {
    CHECK(errors_of(std::string("[]")) == Lines{"expected an object, found an empty array"});
    CHECK(errors_of(std::string("null")) == Lines{"expected an object, found null"});
}

TEST_CASE("schema: the built-in text is JSON") {
    CHECK(Json::parse(rocem::config::schema_text()).at("title") == "Configuration of rocemd");
}
