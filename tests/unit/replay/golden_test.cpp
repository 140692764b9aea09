// rocem-replay over the captures of Linux rxe: the counts of every file, and that no alteration of a captured
// answer goes unnoticed.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/golden/captures.hpp"
#include "tests/golden/pcap_files.hpp"
#include "tests/unit/replay/frames.hpp"
#include "tools/rocem-replay/command.hpp"

namespace rocem::test {
namespace {

using tools::Replay;
using tools::Verdict;

std::map<std::string, std::string> expected_lines() {
    std::ifstream file(std::string(ROCEM_SOURCE_DIR) + "/tests/unit/replay/expected_counts.txt");
    std::map<std::string, std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        const std::size_t space = line.find(' ');
        lines[line.substr(0, space)] = line.substr(space + 1);
    }
    return lines;
}

struct Loaded {
    tools::Capture capture;
    std::optional<tools::SideFile> side_file;
};

Loaded load(const std::string& file) {
    auto capture = tools::read_capture(capture_path(file));
    REQUIRE(capture);
    auto side_file = tools::read_side_file(capture_path(file));
    REQUIRE(side_file);
    return {std::move(*capture), std::move(*side_file)};
}

TEST_CASE("every capture gives the counts that its table foretells", "[golden]") {
    const auto expected = expected_lines();
    const auto table = capture_table();
    REQUIRE(table.size() == 80);
    REQUIRE(expected.size() == table.size());
    for (const CaptureRow& row : table) {
        CAPTURE(row.file);
        Loaded loaded = load(row.file);
        const Replay result = tools::replay(std::move(loaded.capture), loaded.side_file, row.file);
        REQUIRE(expected.count(row.file) == 1);
        CHECK(result.counts().line() == expected.at(row.file));
        CHECK(result.counts().different == 0);
    }
}

TEST_CASE("no captured answer is left out", "[golden]") {
    for (const CaptureRow& row : capture_table()) {
        CAPTURE(row.file);
        std::size_t answers_in_table = 0;
        for (const auto& [opcode, count] : row.opcodes) {
            const bool answer =
                opcode == "RC_ACK" || opcode == "RC_ATOMIC_ACK" || opcode.rfind("RC_READ_RESP", 0) == 0;
            if (answer) answers_in_table += count;
        }
        Loaded loaded = load(row.file);
        const Replay result = tools::replay(std::move(loaded.capture), loaded.side_file, row.file);
        std::size_t answers = 0;
        for (const auto& connection : result.connections) {
            for (const tools::Finding& finding : connection.findings)
                answers += finding.peers.has_value();
        }
        CHECK(answers == answers_in_table);
    }
}

// Nothing is proved by an answer that is not compared, by bytes that an application may have written, or by
// the PSN of one of many equal packets, any of which a link may have lost.
bool is_evidence(const Replay& result, std::size_t index, Alteration alteration) {
    for (const auto& connection : result.connections) {
        for (const tools::Finding& finding : connection.findings) {
            if (finding.peers != index) continue;
            if (finding.verdict == Verdict::not_compared) return false;
            if (alteration == Alteration::psn)
                return !connection.setup.answers_lost || result.capture[index].packet.roce.info->has_aeth;
            if (alteration != Alteration::payload) return true;
            const auto& regions = connection.setup.regions;
            return std::all_of(regions.begin(), regions.end(), [](const tools::RegionFact& region) {
                return !region.changed_by_application && !region.initial_bytes.empty();
            });
        }
    }
    return false;
}

TEST_CASE("an altered answer is noticed, whatever part of whichever answer it is", "[golden]") {
    for (const CaptureRow& row : capture_table()) {
        const Loaded loaded = load(row.file);
        const Replay unaltered = tools::replay(copy_of(loaded.capture), loaded.side_file, row.file);
        for (std::size_t index = 0; index < loaded.capture.size(); ++index) {
            if (!loaded.capture[index].is_answer()) continue;
            for (const auto alteration :
                 {Alteration::psn, Alteration::syndrome, Alteration::msn, Alteration::payload}) {
                if (!has_part(loaded.capture[index], alteration) ||
                    !is_evidence(unaltered, index, alteration)) {
                    continue;
                }
                auto capture = with_frame(loaded.capture, index, altered(loaded.capture[index], alteration));
                const Replay result = tools::replay(std::move(capture), loaded.side_file, row.file);
                CAPTURE(row.file, loaded.capture[index].number, static_cast<int>(alteration));
                CHECK(result.counts().different >= 1);
            }
        }
    }
}

TEST_CASE("a removed answer is noticed where nothing can explain it", "[golden]") {
    for (const char* file : {"t_badrkey_read.pcap", "t_psnwrap.pcap", "write_bw_mtu1024.pcap", "send_bw.pcap",
                             "read_bw_v6.pcap", "t_atomic_vals.pcap"}) {
        const Loaded loaded = load(file);
        for (std::size_t index = 0; index < loaded.capture.size(); ++index) {
            if (!loaded.capture[index].is_answer()) continue;
            const Replay result = tools::replay(without_frame(loaded.capture, index), loaded.side_file, file);
            CAPTURE(file, loaded.capture[index].number);
            CHECK(result.counts().different == 1);
        }
    }
}

TEST_CASE("without side files only what they tell is missing", "[golden]") {
    // These say something that no capture shows: rights, sizes, lost frames, habits.
    const std::vector<std::string> needed = {"host_rc_req_bigonly.pcap",
                                             "host_rc_req_lenmismatch.pcap",
                                             "host_rc_req_middle.pcap",
                                             "host_rc_req_shortfirst.pcap",
                                             "host_rc_requester.pcap",
                                             "host_rc_resp_ackall.pcap",
                                             "host_rc_resp_coalesce.pcap",
                                             "host_rc_resp_rnr.pcap",
                                             "host_rc_responder.pcap",
                                             "rping.pcap",
                                             "rping_v6.pcap",
                                             "t_loss_read.pcap",
                                             "t_send_toolong.pcap",
                                             "t_timeout_exhaust_t1.pcap",
                                             "t_timeout_exhaust_t16.pcap"};
    for (const CaptureRow& row : capture_table()) {
        if (std::find(needed.begin(), needed.end(), row.file) != needed.end()) continue;
        CAPTURE(row.file);
        CHECK(tools::replay(load(row.file).capture, {}, row.file).counts().different == 0);
    }
}

// --- the command ---

struct Run {
    int status = 0;
    std::string out;
    std::string errors;
};

Run run(std::vector<std::string> files, bool json = false) {
    std::ostringstream out;
    std::ostringstream errors;
    tools::ReplayOptions options;
    options.files = std::move(files);
    options.json = json;
    const int status = tools::replay_files(options, out, errors);
    return {status, out.str(), errors.str()};
}

std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
}

TEST_CASE("the last line counts, of several files all", "[golden]") {
    const Run one = run({capture_path("t_rnr.pcap")});
    CHECK(one.status == tools::replay_ok);
    CHECK(last_line(one.out) ==
          "1 connections: 80 requests, 22 answers equal, 0 different, 19 explained, 0 not compared");
    const Run two = run({capture_path("t_rnr.pcap"), capture_path("t_dup.pcap")});
    CHECK(last_line(two.out) ==
          "2 connections: 99 requests, 38 answers equal, 0 different, 19 explained, 0 not compared");
    const Run none = run({capture_path("ud_pingpong.pcap")});
    CHECK(last_line(none.out) ==
          "0 connections: 0 requests, 0 answers equal, 0 different, 0 explained, 0 not compared");
}

TEST_CASE("a difference is printed with both packets, and is the exit status", "[golden]") {
    const TemporaryDirectory directory;
    const Loaded loaded = load("t_psnwrap.pcap");
    std::vector<TimedFrame> frames;
    for (const auto& frame : loaded.capture)
        frames.push_back({0, 0, frame.bytes, 0});
    frames.back().bytes = altered(loaded.capture.back(), Alteration::msn);
    const std::string path = directory.path("altered.pcap");
    write_file(path, pcap_file({}, frames));
    const Run result = run({path});
    CHECK(result.status == tools::replay_different);
    CHECK_THAT(result.out, Catch::Matchers::Contains("different: MSN differs"));
    CHECK_THAT(result.out, Catch::Matchers::Contains("peer    RC ATOMIC_ACKNOWLEDGE"));
    CHECK_THAT(result.out, Catch::Matchers::Contains("engine  RC ATOMIC_ACKNOWLEDGE"));
    CHECK_THAT(result.out, Catch::Matchers::Contains("no side file"));

    const Run json = run({path}, true);
    CHECK(json.status == tools::replay_different);
    CHECK_THAT(json.out, Catch::Matchers::Contains("\"verdict\":\"different\""));
}

TEST_CASE("what cannot be read is said, and is the exit status", "[golden]") {
    const TemporaryDirectory directory;
    CHECK(run({directory.path("missing.pcap")}).status == tools::replay_unreadable);

    const std::string junk = directory.path("junk.pcap");
    const std::string noise = "this is not a capture, and long enough to hold a header of one";
    write_file(junk, std::as_bytes(std::span(noise)));
    const Run unreadable = run({junk, capture_path("t_dup.pcap")});
    CHECK(unreadable.status == tools::replay_unreadable);
    CHECK_THAT(unreadable.errors, Catch::Matchers::Contains("junk.pcap"));
    CHECK_THAT(last_line(unreadable.out), Catch::Matchers::StartsWith("1 connections: 19 requests"));

    const std::string capture = directory.path("with_side_file.pcap");
    write_file(capture, pcap_file({}, {}));
    const std::string wrong = R"({"responders": [{"qpn": 1, "mtu": 1500}]})";
    write_file(directory.path("with_side_file.json"), std::as_bytes(std::span(wrong)));
    const Run refused = run({capture});
    CHECK(refused.status == tools::replay_unreadable);
    CHECK_THAT(refused.errors, Catch::Matchers::Contains("/responders/0/mtu"));
}

}  // namespace
}  // namespace rocem::test
