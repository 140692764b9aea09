// rocem-dump: its last line for every capture, its exit statuses, and what it says of odd files.
#include "tools/rocem-dump/dump.hpp"

#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/golden/captures.hpp"
#include "tests/golden/pcap_files.hpp"
#include "tests/unit/protocol/known_frames.hpp"

using namespace rocem::test;
using rocem::tools::PcapReader;

namespace {

struct Dumped {
    int status = 0;
    std::vector<std::string> lines;
    std::string errors;

    std::string last_line() const { return lines.empty() ? "" : lines.back(); }
};

Dumped dump(std::vector<std::string> files, bool json = false) {
    std::ostringstream out;
    std::ostringstream errors;
    Dumped result;
    result.status = rocem::tools::dump({std::move(files), json}, out, errors);
    result.errors = errors.str();
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
        result.lines.push_back(line);
    return result;
}

// The frames of a capture, to be written again in another form.
std::vector<TimedFrame> frames_of(const std::string& file) {
    auto reader = PcapReader::open(capture_path(file));
    REQUIRE(reader);
    std::vector<TimedFrame> frames;
    for (auto frame = reader->next(); frame && *frame; frame = reader->next())
        frames.push_back({1, 0, {(*frame)->bytes.begin(), (*frame)->bytes.end()}, 0});
    return frames;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs the program through the shell: its exit status and what it writes.
std::pair<int, std::string> run(const std::string& arguments) {
    FILE* pipe = popen((std::string(ROCEM_DUMP) + " " + arguments).c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part;
    while (const std::size_t length = std::fread(part.data(), 1, part.size(), pipe))
        text.append(part.data(), length);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

}  // namespace

TEST_CASE("the last line of every capture", "[dump]") {
    std::ifstream expectations(std::string(ROCEM_SOURCE_DIR) + "/tests/golden/rocem_dump.txt");
    std::vector<std::string> files;
    std::string total;
    for (std::string line; std::getline(expectations, line);) {
        if (line.rfind('#', 0) == 0) continue;
        const std::string file = line.substr(0, line.find(' '));
        const std::string expected = line.substr(file.size() + 1);
        if (file == "total") {
            total = expected;
            continue;
        }
        files.push_back(capture_path(file));
        INFO(file);
        const Dumped dumped = dump({capture_path(file)});
        CHECK(dumped.last_line() == expected);
        CHECK(dumped.status == (contains(expected, " 0 bad") ? 0 : 1));
        CHECK(dumped.errors.empty());
        // One line a frame, and the last.
        CHECK(dumped.lines.size() == std::stoul(expected) + 1);
    }
    CHECK(files.size() == 80);
    const Dumped all = dump(files);
    CHECK(all.last_line() == total);
    CHECK(all.status == 1);
}

TEST_CASE("one line a packet", "[dump]") {
    const Dumped dumped = dump({capture_path("t_rnr_one.pcap")});
    REQUIRE(dumped.lines.size() == 5);
    CHECK(dumped.lines[0] ==
          "    1    0.000000000 10.77.0.1 > 10.77.0.2 RC SEND_ONLY qp 0x61 psn 0x100 A payload 100 ICRC ok");
    CHECK(contains(dumped.lines[1],
                   "10.77.0.2 > 10.77.0.1 RC ACKNOWLEDGE qp 0x63 psn 0x100 RNR NAK timer 1.28 ms"));
    const Dumped bad = dump({capture_path("t_corrupt.pcap")});
    CHECK(std::count_if(bad.lines.begin(), bad.lines.end(),
                        [](const std::string& line) { return contains(line, "ICRC BAD"); }) == 17);
}

TEST_CASE("wrong UDP checksums and lengths are named", "[dump]") {
    // The table: one deliberate bad UDP checksum.
    const Dumped probes = dump({capture_path("host_rc_requester.pcap")});
    CHECK(std::count_if(probes.lines.begin(), probes.lines.end(),
                        [](const std::string& line) { return contains(line, "UDP checksum BAD"); }) == 1);

    std::vector<TimedFrame> frames = frames_of("t_rnr_one.pcap");
    frames.resize(1);
    frames[0].bytes[39] ^= std::byte{0x04};  // the UDP length, which the ICRC covers
    const TemporaryDirectory directory;
    write_file(directory.path("a.pcap"), pcap_file({}, frames));
    const Dumped dumped = dump({directory.path("a.pcap")});
    CHECK(contains(dumped.lines[0], "UDP length BAD ICRC BAD"));
    CHECK(dumped.status == 1);
}

TEST_CASE("VLAN tags, trailers and RoCE v1 have their ICRC checked", "[dump]") {
    std::vector<TimedFrame> frames;
    for (const char* tags : {"", "8100 0064", "88a8 0001 8100 0064"}) {
        for (const KnownFrame& known : known_frames()) {
            Bytes frame = build(known);
            const Bytes inserted = from_hex(tags);
            frame.insert(frame.begin() + 12, inserted.begin(), inserted.end());
            frame.insert(frame.end(), 6, std::byte{0x3c});
            frames.push_back({1, 0, frame, 0});
        }
    }
    const TemporaryDirectory directory;
    write_file(directory.path("a.pcap"), pcap_file({}, frames));
    const Dumped dumped = dump({directory.path("a.pcap")});
    // Of the six, two are RoCE v1: other frames, with an ICRC.
    CHECK(dumped.last_line() == "18 frames: 12 RoCE v2, 6 other; ICRC 18 ok, 0 bad, 0 not checked");
    CHECK(dumped.status == 0);
}

TEST_CASE("a cut capture is not checked, never bad", "[dump]") {
    const std::size_t snapshot_bytes =
        GENERATE(std::size_t{40}, std::size_t{44}, std::size_t{60}, std::size_t{64});
    std::vector<TimedFrame> frames = frames_of("t_atomic_vals.pcap");  // each longer than 64 but one kind
    std::size_t cut = 0;
    for (TimedFrame& frame : frames) {
        frame.original_bytes = frame.bytes.size();
        if (frame.bytes.size() > snapshot_bytes) {
            frame.bytes.resize(snapshot_bytes);
            ++cut;
        }
    }
    const TemporaryDirectory directory;
    write_file(directory.path("cut.pcap"), pcap_file({}, frames));
    const Dumped dumped = dump({directory.path("cut.pcap")});
    CHECK(dumped.status == 0);
    CHECK(dumped.last_line() == "8 frames: 8 RoCE v2, 0 other; ICRC " + std::to_string(8 - cut) +
                                    " ok, 0 bad, " + std::to_string(cut) + " not checked");
    CHECK(contains(dumped.lines[0], "ICRC not checked (truncated)"));
    CHECK_FALSE(contains(dumped.lines[0], "malformed"));
}

TEST_CASE("a malformed frame to port 4791 is RoCE v2, with the reason", "[dump]") {
    std::vector<TimedFrame> frames = frames_of("t_rnr_one.pcap");
    frames.resize(1);
    frames[0].bytes[42] = std::byte{0xff};  // a reserved opcode
    const TemporaryDirectory directory;
    write_file(directory.path("a.pcap"), pcap_file({}, frames));
    const Dumped dumped = dump({directory.path("a.pcap")});
    CHECK(dumped.status == 0);
    CHECK(contains(dumped.lines[0], "malformed: the opcode is reserved"));
    CHECK(dumped.last_line() == "1 frames: 1 RoCE v2, 0 other; ICRC 0 ok, 0 bad, 1 not checked");
}

TEST_CASE("an ICRC of zero is bad", "[dump]") {
    std::vector<TimedFrame> frames = frames_of("t_rnr_one.pcap");
    for (TimedFrame& frame : frames)
        std::fill_n(frame.bytes.rbegin(), 4, std::byte{0});
    const TemporaryDirectory directory;
    write_file(directory.path("zero.pcap"), pcap_file({}, frames));
    const Dumped dumped = dump({directory.path("zero.pcap")});
    CHECK(dumped.status == 1);
    CHECK(dumped.last_line() == "4 frames: 4 RoCE v2, 0 other; ICRC 0 ok, 4 bad, 0 not checked");
    CHECK(contains(dumped.lines[0], "ICRC BAD (00000000"));
}

TEST_CASE("files that cannot be read: a message, status 2, the others are dumped", "[dump]") {
    const TemporaryDirectory directory;
    write_file(directory.path("erf.pcap"),
               pcap_file({ByteOrder::little, pcap_magic_microseconds, link_type_erf}, {}));
    const std::string file = GENERATE_REF(directory.path("erf.pcap"), directory.path(""),
                                          std::string("/dev/null"), directory.path("missing"));
    const Dumped dumped = dump({file, capture_path("t_corrupt.pcap")});
    CHECK(dumped.status == 2);
    CHECK(contains(dumped.errors, file));
    CHECK(dumped.last_line() == "64 frames: 64 RoCE v2, 0 other; ICRC 47 ok, 17 bad, 0 not checked");
}

TEST_CASE("JSON: an object a frame with every header, and the summary", "[dump]") {
    const Dumped dumped = dump({capture_path("t_atomic_vals.pcap")}, true);
    REQUIRE(dumped.lines.size() == 9);
    // Frame 7: CMP_SWAP that misses, compare 5, swap 6 (the captures' table has the command).
    const auto frame = nlohmann::json::parse(dumped.lines[6]);
    CHECK(frame["number"] == 7);
    CHECK(frame["kind"] == "roce_v2");
    CHECK(frame["opcode_name"] == "RC_COMPARE_SWAP");
    CHECK(frame["bth"]["opcode"] == 0x13);
    CHECK(frame["bth"]["ack_request"] == true);
    CHECK(frame["atomic_eth"]["compare"] == 5);
    CHECK(frame["atomic_eth"]["swap_or_add"] == 6);
    CHECK(frame["ipv4"]["source"] == "10.77.0.1");
    CHECK(frame["udp"]["destination_port"] == 4791);
    CHECK(frame["icrc"] == "ok");
    const auto answer = nlohmann::json::parse(dumped.lines[7]);
    CHECK(answer["aeth"]["syndrome"] == 0x1f);
    CHECK(answer["atomic_ack_eth"]["original"] == 0xa1a2a3a4a5a6a7a8);
    const auto summary = nlohmann::json::parse(dumped.lines[8])["summary"];
    CHECK(summary["frames"] == 8);
    CHECK(summary["icrc_ok"] == 8);
    CHECK(summary["icrc_bad"] == 0);
}

TEST_CASE("the program: help, wrong arguments, a reader that goes away", "[dump]") {
    CHECK(run("--help").first == 0);
    CHECK(contains(run("--help").second, "Exit status"));
    CHECK(run("2>&1").first == 2);
    CHECK(run("--no-such-flag 2>&1").first == 2);
    CHECK(run(capture_path("t_corrupt.pcap") + " > /dev/null").first == 1);
    CHECK(contains(run("- < " + capture_path("write_lat.pcap")).second, "42 frames: 42 RoCE v2, 0 other"));
    const auto [status, text] = run(capture_path("t_loss_data.pcap") + " 2>&1 | head -1");
    CHECK(status == 0);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}
