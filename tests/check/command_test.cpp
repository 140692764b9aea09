// rocem-check as a command: lines, JSON, exit statuses.
#include "tools/rocem-check/command.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/golden/captures.hpp"
#include "tests/golden/pcap_files.hpp"
#include "tools/rocem-check/print_report.hpp"

using namespace rocem::tools;
using namespace rocem::test;

namespace {

struct Run {
    int status = 0;
    std::vector<std::string> lines;
    std::string errors;
};

Run run(const CheckCommand& command) {
    std::ostringstream out;
    std::ostringstream errors;
    Run result;
    result.status = check_files(command, out, errors);
    result.errors = errors.str();
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
        result.lines.push_back(line);
    return result;
}

CheckCommand command_for(std::vector<std::string> files, bool json = false) {
    CheckCommand command;
    command.files = std::move(files);
    command.json = json;
    return command;
}

}  // namespace

TEST_CASE("a clean capture", "[check]") {
    const Run result = run(command_for({capture_path("t_psnwrap.pcap")}));
    CHECK(result.status == check_ok);
    REQUIRE(result.lines.size() == 3);
    CHECK(result.lines[0] == "RC 10.77.0.1 qp 0x49 > 10.77.0.2 qp 0x47, frames 1 to 22, MTU 1024");
    CHECK(result.lines[1] == "  13 requests, 9 answers, 5 messages");
    CHECK(result.lines[2] == "22 frames: 1 connections, 13 requests, 0 violations, 0 deviations");
}

TEST_CASE("a capture with a violation", "[check]") {
    const std::string file = capture_path("host_rc_resp_silent.pcap");
    const Run result = run(command_for({file}));
    CHECK(result.status == check_violation);
    CHECK(result.lines.at(3) == "  VIOLATION second NAK: frame 7 (frame 5): psn 0x501 has had its NAK");
    CHECK(result.lines.back() == "29 frames: 1 connections, 16 requests, 1 violations, 0 deviations");

    CheckCommand rxe = command_for({file});
    rxe.options.profile = Profile::rxe;
    const Run accepted = run(rxe);
    CHECK(accepted.status == check_ok);
    CHECK(accepted.lines.at(3) ==
          "  deviation NAK for every packet: frame 7 (frame 5): psn 0x501 has had its NAK");
}

TEST_CASE("as JSON", "[check]") {
    const Run result = run(command_for({capture_path("host_rc_resp_silent.pcap")}, true));
    REQUIRE(result.lines.size() == 2);
    const auto report = nlohmann::json::parse(result.lines[0]);
    CHECK(report["counts"]["violations"] == 1);
    const auto& connection = report["connections"][0];
    CHECK(connection["responder_qpn"] == 0xabc);
    CHECK(connection["requester_qpn"] == 0x2b);
    CHECK(connection["counters"]["packet_seq_err"] == 1);
    CHECK(connection["gaps"][0]["psn"] == 0x501);
    CHECK(connection["gaps"][0]["resend_frame"] == 8);
    CHECK(connection["findings"][0]["name"] == "second NAK");
    CHECK(connection["findings"][0]["frames"] == nlohmann::json::array({7, 5}));
    CHECK(nlohmann::json::parse(result.lines[1])["summary"]["frames"] == 29);
}

TEST_CASE("several files have a last line each, and one for all", "[check]") {
    const Run result = run(command_for({capture_path("atomic_cas.pcap"), capture_path("atomic_faa.pcap")}));
    CHECK(result.status == check_ok);
    CHECK(result.lines.front() == capture_path("atomic_cas.pcap") + ":");
    CHECK(result.lines.back() == "40 frames: 2 connections, 20 requests, 0 violations, 0 deviations");
}

TEST_CASE("what cannot be read", "[check]") {
    const TemporaryDirectory directory;
    const Run missing = run(command_for({directory.path("missing.pcap")}));
    CHECK(missing.status == check_unreadable);
    CHECK(missing.errors.rfind("rocem-check: " + directory.path("missing.pcap"), 0) == 0);

    write_file(directory.path("empty.pcap"), pcap_file({}, {}));
    const Run empty = run(command_for({directory.path("empty.pcap")}));
    CHECK(empty.status == check_ok);
    CHECK(empty.lines.back() == "0 frames: 0 connections, 0 requests, 0 violations, 0 deviations");
}
