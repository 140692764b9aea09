// The example files are right, and say what the documentation says of them.
#include <catch2/catch.hpp>
#include <filesystem>

#include "config/address_text.hpp"
#include "config/parse.hpp"

using namespace rocem::config;

namespace {

const std::filesystem::path examples = std::filesystem::path(ROCEM_SOURCE_DIR) / "config" / "examples";

DaemonSettings example(const char* name) {
    const auto text = read_config_file(examples / name);
    REQUIRE(text.has_value());
    CHECK(check_config(name, *text).text == std::string(name) + ": ok\n");
    auto settings = parse_settings(*text);
    REQUIRE(settings.has_value());
    return *settings;
}

}  // namespace

TEST_CASE("examples: every one is accepted") {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(examples)) {
        const CheckReport report = check_config_file(entry.path());
        CAPTURE(report.text);
        CHECK(report.exit_status == 0);
        ++count;
    }
    CHECK(count >= 3);
}

TEST_CASE("examples: pair.json is two NICs on one wire, without privilege") {
    const DaemonSettings settings = example("pair.json");
    REQUIRE(settings.nics.size() == 2);
    for (const NicSettings& nic : settings.nics) {
        CHECK(std::get<VirtualWirePort>(nic.port).wire == "pair");
        CHECK(nic.mtu.bytes() == 4096);
        CHECK_FALSE(nic.faults.active());
        CHECK(nic.addresses.size() == 2);
    }
    CHECK(settings.nics[0].name == "rocem0");
    CHECK(settings.nics[1].name == "rocem1");
}

TEST_CASE("examples: the veth files are two ends of one network") {
    const DaemonSettings a = example("veth-a.json");
    const DaemonSettings b = example("veth-b.json");
    REQUIRE(a.nics.size() == 1);
    REQUIRE(b.nics.size() == 1);
    CHECK(a.socket.path != b.socket.path);
    CHECK(a.nics[0].mac != b.nics[0].mac);
    CHECK(std::get<AfPacketPort>(a.nics[0].port).interface == "veth-a");
    CHECK(std::get<AfPacketPort>(b.nics[0].port).interface == "veth-b");
    REQUIRE(a.nics[0].addresses.size() == b.nics[0].addresses.size());
    for (std::size_t i = 0; i < a.nics[0].addresses.size(); ++i) {
        CHECK(a.nics[0].addresses[i].gid != b.nics[0].addresses[i].gid);
        CHECK(in_prefix(a.nics[0].addresses[i], b.nics[0].addresses[i].gid));
    }
}
