// Text to settings: every key arrives in its field, every field has its default, every file its verdict.
#include "config/parse.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "config/address_text.hpp"
#include "tests/unit/config/documents.hpp"

using namespace rocem::config;
using rocem::test::good_pair;
using rocem::test::good_veth;

namespace {

DaemonSettings parsed(const std::string& text) {
    auto settings = parse_settings(text);
    REQUIRE(settings.has_value());
    return *settings;
}

// A file of its own that goes when the test ends.
class TemporaryFile {
 public:
    explicit TemporaryFile(const std::string& text) {
        char name[] = "/tmp/rocem-config-XXXXXX";
        const int descriptor = mkstemp(name);
        REQUIRE(descriptor >= 0);
        close(descriptor);
        path_ = name;
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

 private:
    std::string path_;
};

}  // namespace

TEST_CASE("parse: what is left out has its default") {
    const DaemonSettings settings = parsed(good_pair().dump());
    CHECK(settings.socket.path.empty());
    CHECK(settings.socket.mode == 0660);
    CHECK(settings.socket.group.empty());
    CHECK(settings.log_level == LogLevel::info);
    CHECK(settings.counters_page);
    CHECK_FALSE(settings.seed.has_value());
    REQUIRE(settings.workers.size() == 1);
    CHECK(settings.workers[0].name == "worker0");
    CHECK_FALSE(settings.workers[0].cpu.has_value());
    CHECK(settings.workers[0].idle.block);
    CHECK(settings.limits.max_qp == 16384);
    CHECK(settings.limits.max_qp_wr == 32768);
    CHECK(settings.limits.max_sge == 32);
    CHECK(settings.limits.max_inline_data == 512);
    CHECK(settings.limits.max_cqe == 4194303);
    CHECK(settings.limits.max_qp_rd_atom == 16);
    CHECK(settings.limits.max_msg_bytes == 2147483648);
    REQUIRE(settings.nics.size() == 2);
    const NicSettings& nic = settings.nics[0];
    CHECK(nic.worker == "worker0");
    CHECK(nic.mtu.bytes() == 1024);
    CHECK(nic.mig_req);
    CHECK(nic.window_packets == 128);
    CHECK(nic.ack_request_packets == 64);
    CHECK(nic.node_guid == 0x000000fffe000001);
    CHECK_FALSE(nic.faults.active());
    CHECK(nic.captures.wire.empty());
    CHECK(std::get<VirtualWirePort>(nic.port).wire == "pair");
    const NicSettings veth = parsed(good_veth().dump()).nics[0];
    CHECK(std::get<AfPacketPort>(veth.port).frame_bytes == 8192);
    CHECK(std::get<AfPacketPort>(veth.port).block_bytes == 8192);
    CHECK(std::get<AfPacketPort>(veth.port).frame_count == 512);
}

TEST_CASE("parse: every key arrives") {
    const DaemonSettings settings = parsed(R"({
        "$schema": "rocem.schema.json",
        "socket": {"path": "/run/x.sock", "mode": "0606", "group": "rdma"},
        "log_level": "off", "counters_page": false, "seed": 11,
        "workers": [{"name": "a"},
                    {"name": "b", "cpu": 3, "idle": {"spin_us": 1, "yield_us": 2, "block": false, "max_sleep_us": 13}}],
        "dpdk": {"memory_mib": 64},
        "limits": {"max_qp": 1, "max_qp_wr": 2, "max_sge": 3, "max_inline_data": 4, "max_cq": 5, "max_cqe": 6,
                   "max_mr": 7, "max_pd": 8, "max_qp_rd_atom": 9, "max_msg_bytes": 4096, "sessions_max": 10,
                   "session_memory_bytes_max": 1048576, "session_segments_max": 12},
        "nics": [{"name": "n", "mac": "02:AB:cd:00:00:01", "addresses": ["10.1.0.1/24", "fd00::1/64"],
                  "gateway_v4": "10.1.0.254", "gateway_v6": "fd00::fe", "mtu": 512, "gid_link_local": false,
                  "gid_ipv4_first": true, "node_guid": "0123:4567:89ab:CDEF", "worker": "b", "mig_req": false,
                  "ignore_udp_checksum": true, "window_packets": 16, "ack_request_packets": 4, "vendor_part_id": 4119,
                  "port": {"type": "af_packet", "interface": "veth0", "frame_bytes": 4096, "block_bytes": 16384,
                           "frame_count": 64},
                  "faults": {"seed": 5,
                             "receive": {"loss": 0.5, "duplicate": 0.25, "reorder": 0.125, "reorder_frames": 2,
                                         "corrupt": 1, "delay_us": 6, "jitter_us": 7},
                             "transmit": {"loss": 0.75}},
                  "captures": {"wire": "w.pcap", "engine": "e.pcap"}}]})");

    CHECK(settings.socket.path == "/run/x.sock");
    CHECK(settings.socket.mode == 0606);
    CHECK(settings.socket.group == "rdma");
    CHECK(settings.log_level == LogLevel::off);
    CHECK_FALSE(settings.counters_page);
    CHECK(settings.seed == 11U);
    REQUIRE(settings.workers.size() == 2);
    CHECK(settings.workers[1].cpu == 3U);
    CHECK(settings.workers[1].idle.spin_us == 1);
    CHECK(settings.workers[1].idle.yield_us == 2);
    CHECK_FALSE(settings.workers[1].idle.block);
    CHECK(settings.workers[1].idle.max_sleep_us == 13);
    CHECK(settings.dpdk.memory_mib == 64);
    const LimitSettings& limits = settings.limits;
    CHECK(limits.max_qp == 1);
    CHECK(limits.max_qp_wr == 2);
    CHECK(limits.max_sge == 3);
    CHECK(limits.max_inline_data == 4);
    CHECK(limits.max_cq == 5);
    CHECK(limits.max_cqe == 6);
    CHECK(limits.max_mr == 7);
    CHECK(limits.max_pd == 8);
    CHECK(limits.max_qp_rd_atom == 9);
    CHECK(limits.max_msg_bytes == 4096);
    CHECK(limits.sessions_max == 10);
    CHECK(limits.session_memory_bytes_max == 1048576);
    CHECK(limits.session_segments_max == 12);

    REQUIRE(settings.nics.size() == 1);
    const NicSettings& nic = settings.nics[0];
    CHECK(nic.name == "n");
    CHECK(nic.mac.to_string() == "02:ab:cd:00:00:01");
    REQUIRE(nic.addresses.size() == 2);
    CHECK(ip_text(nic.addresses[0].gid) == "10.1.0.1");
    CHECK(nic.addresses[0].prefix_length == 24);
    CHECK(ip_text(nic.addresses[1].gid) == "fd00::1");
    CHECK(nic.addresses[1].prefix_length == 64);
    REQUIRE(nic.gateway_v4.has_value());
    CHECK(ip_text(*nic.gateway_v4) == "10.1.0.254");
    REQUIRE(nic.gateway_v6.has_value());
    CHECK(ip_text(*nic.gateway_v6) == "fd00::fe");
    CHECK(nic.mtu.bytes() == 512);
    CHECK_FALSE(nic.gid_link_local);
    CHECK(nic.gid_ipv4_first);
    CHECK(nic.node_guid == 0x0123456789abcdef);
    CHECK(nic.worker == "b");
    CHECK_FALSE(nic.mig_req);
    CHECK(nic.ignore_udp_checksum);
    CHECK(nic.window_packets == 16);
    CHECK(nic.ack_request_packets == 4);
    CHECK(nic.vendor_part_id == 4119);
    const auto& port = std::get<AfPacketPort>(nic.port);
    CHECK(port.interface == "veth0");
    CHECK(port.frame_bytes == 4096);
    CHECK(port.block_bytes == 16384);
    CHECK(port.frame_count == 64);
    CHECK(nic.faults.active());
    CHECK(nic.faults.seed == 5U);
    CHECK(nic.faults.receive.loss == 0.5);
    CHECK(nic.faults.receive.duplicate == 0.25);
    CHECK(nic.faults.receive.reorder == 0.125);
    CHECK(nic.faults.receive.reorder_frames == 2);
    CHECK(nic.faults.receive.corrupt == 1.0);
    CHECK(nic.faults.receive.delay_us == 6);
    CHECK(nic.faults.receive.jitter_us == 7);
    CHECK(nic.faults.transmit.loss == 0.75);
    CHECK(nic.captures.wire == "w.pcap");
    CHECK(nic.captures.engine == "e.pcap");
}

TEST_CASE("parse: a NIC without a worker has the first one") {
    auto document = good_pair();
    document["workers"] = rocem::test::Json::array({{{"name", "first"}}, {{"name", "second"}}});
    CHECK(parsed(document.dump()).nics[0].worker == "first");
}

TEST_CASE("parse: the window bounds the default ACK interval") {
    auto document = good_pair();
    document["nics"][0]["window_packets"] = 1;
    CHECK(parsed(document.dump()).nics[0].ack_request_packets == 1);
}

TEST_CASE("check_config: a good file is ok") {
    const TemporaryFile file(good_pair().dump());
    const CheckReport report = check_config_file(file.path());
    CHECK(report.text == file.path() + ": ok\n");
    CHECK(report.exit_status == 0);
}

TEST_CASE("check_config: a line for each error") {
    auto document = good_pair();
    document["nics"][0]["mtu"] = 1500;
    document["nics"][1]["mtu"] = 9000;
    const CheckReport report = check_config("pair.json", document.dump());
    CHECK(report.text ==
          "pair.json: /nics/0/mtu: expected one of 256, 512, 1024, 2048, 4096, found 1500\n"
          "pair.json: /nics/1/mtu: expected one of 256, 512, 1024, 2048, 4096, found 9000\n");
    CHECK(report.exit_status == 1);
}

TEST_CASE("check_config: a syntax error names line and column") {
    const CheckReport report = check_config("x.json", "{\n  \"nics\" [] }");
    CHECK(report.text.find("x.json: line 2, column 10: syntax error") == 0);
    CHECK(report.exit_status == 1);
}

TEST_CASE("check_config: a file that cannot be read") {
    CheckReport report = check_config_file("/nonexistent/rocem.json");
    CHECK(report.text == "/nonexistent/rocem.json: cannot be opened: No such file or directory\n");
    CHECK(report.exit_status == 2);
    report = check_config_file("/tmp");
    CHECK(report.text == "/tmp: cannot be read: Is a directory\n");
    CHECK(report.exit_status == 2);
    const TemporaryFile large(std::string(config_bytes_max + 1, ' '));
    report = check_config_file(large.path());
    CHECK(report.text == large.path() + ": larger than 1048576 bytes\n");
    CHECK(report.exit_status == 2);
}

TEST_CASE("default_socket_path: the user's own directory, else the system's") {
    CHECK(default_socket_path("/run/user/1000") == "/run/user/1000/rocem/rocemd.sock");
    CHECK(default_socket_path("") == "/run/rocem/rocemd.sock");
    CHECK(default_socket_path(nullptr) == "/run/rocem/rocemd.sock");
}
