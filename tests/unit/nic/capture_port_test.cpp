// Captures, read back by libpcap.
#include "daemon/nic/capture_port.hpp"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "daemon/nic/virtual_wire.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/nic/port_rig.hpp"

namespace rocem::test {
namespace {

// A directory that goes away with the test.
class ScratchDirectory {
 public:
    ScratchDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "rocem-capture-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
    std::filesystem::path path_;
};

struct Record {
    std::int64_t time_ns = 0;
    std::string bytes;
    friend bool operator==(const Record&, const Record&) = default;
};

std::vector<Record> read_capture(const std::string& path) {
    char error[PCAP_ERRBUF_SIZE] = "";
    pcap_t* pcap = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
    INFO(error);
    REQUIRE(pcap != nullptr);
    CHECK(pcap_datalink(pcap) == DLT_EN10MB);
    std::vector<Record> records;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    while (pcap_next_ex(pcap, &header, &data) == 1) {
        CHECK(header->caplen == header->len);
        records.push_back({header->ts.tv_sec * 1'000'000'000 + header->ts.tv_usec,
                           to_hex(std::as_bytes(std::span(data, header->caplen)))});
    }
    pcap_close(pcap);
    return records;
}

mode_t mode_of(const std::string& path) {
    struct stat facts {};
    REQUIRE(stat(path.c_str(), &facts) == 0);
    return facts.st_mode & 07777;
}

constexpr std::chrono::nanoseconds wall_clock_offset{1'700'000'000'123'456'789};

TEST_CASE("capture: what passed both ways, to the byte and the nanosecond", "[nic][capture]") {
    const NoLeak no_leak;
    const ScratchDirectory directory;
    const std::string path = directory.file("wire.pcap");
    auto [a, b] = daemon::make_virtual_wire("w0");
    auto made = daemon::make_capture_port(std::move(a), path, wall_clock_offset);
    REQUIRE(made);
    std::unique_ptr<daemon::PacketPort> port = std::move(*made);
    CHECK(port->description() == "virtual wire w0");

    CHECK(send_numbers(*port, engine::Time(1ns), 1, 1) == 1);
    CHECK(send_numbers(*b, engine::Time(2ns), 2, 1) == 1);
    CHECK(receive_numbers(*port, engine::Time(3s)) == numbers(2, 1));
    CHECK(receive_numbers(*b, engine::Time(3s)) == numbers(1, 1));
    CHECK(counters(*port)["capture_frames"] == 2);
    CHECK(counters(*port)["capture_dropped"] == 0);
    CHECK(counters(*port)["wire_tx_frames"] == 1);
    port.reset();

    CHECK(read_capture(path) == std::vector<Record>{{1'700'000'000'123'456'790, to_hex(roce_bytes(1))},
                                                    {1'700'000'003'123'456'789, to_hex(roce_bytes(2))}});
}

TEST_CASE("capture: what is pushed back is recorded once, when it goes", "[nic][capture]") {
    const NoLeak no_leak;
    const ScratchDirectory directory;
    const std::string path = directory.file("engine.pcap");
    Script script;
    script.room = 2;
    auto made = daemon::make_capture_port(make_scripted_port(script), path, {});
    REQUIRE(made);
    std::unique_ptr<daemon::PacketPort> port = std::move(*made);
    const std::vector<daemon::FrameBuffer> burst{roce_frame(0), roce_frame(1), roce_frame(2), roce_frame(3)};
    CHECK(port->transmit_room() == 2);
    CHECK(port->transmit(engine::Time(1s), burst) == 2);
    script.room = 2;
    CHECK(port->transmit(engine::Time(2s), std::span(burst).subspan(2)) == 2);
    port.reset();
    CHECK(script.sent == numbers(0, 4));
    CHECK(read_capture(path) == std::vector<Record>{{1'000'000'000, to_hex(roce_bytes(0))},
                                                    {1'000'000'000, to_hex(roce_bytes(1))},
                                                    {2'000'000'000, to_hex(roce_bytes(2))},
                                                    {2'000'000'000, to_hex(roce_bytes(3))}});
}

TEST_CASE("capture: the file is its owner's only, and made anew", "[nic][capture]") {
    const ScratchDirectory directory;
    const std::string path = directory.file("wire.pcap");
    Script script;
    SECTION("where there was none, whatever the umask") {
        const mode_t before = umask(0);
        CHECK(daemon::make_capture_port(make_scripted_port(script), path, {}));
        umask(before);
    }
    SECTION("where everybody could read the one before") {
        std::ofstream(path) << std::string(100'000, 'x');
        REQUIRE(chmod(path.c_str(), 0644) == 0);
        CHECK(daemon::make_capture_port(make_scripted_port(script), path, {}));
    }
    CHECK(mode_of(path) == 0600);
    CHECK(read_capture(path).empty());
}

TEST_CASE("capture: a path that cannot be written is an error with its reason", "[nic][capture]") {
    const ScratchDirectory directory;
    Script script;
    const std::string missing = directory.file("no/such/directory.pcap");
    const auto none = daemon::make_capture_port(make_scripted_port(script), missing, {});
    REQUIRE_FALSE(none);
    CHECK(none.error() == "capture " + missing + ": No such file or directory");
    const auto folder = daemon::make_capture_port(make_scripted_port(script), directory.file(""), {});
    REQUIRE_FALSE(folder);
    CHECK_THAT(folder.error(), Catch::EndsWith("Is a directory"));
}

// A FIFO that nobody empties is a disk that does not write: the buffer fills, the wire goes on.
TEST_CASE("capture: a slow disk costs captured frames, which are counted, and never the wire",
          "[nic][capture]") {
    const NoLeak no_leak;
    const ScratchDirectory directory;
    const std::string path = directory.file("fifo");
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader >= 0);
    Script script;
    script.room = 1'000'000;
    auto made = daemon::make_capture_port(make_scripted_port(script), path, {});
    REQUIRE(made);
    std::unique_ptr<daemon::PacketPort> port = std::move(*made);
    // More than the buffer, the pipe and stdio's buffer hold.
    constexpr std::uint64_t frames = 150'000;
    std::uint64_t sent = 0;
    while (sent < frames && counters(*port)["capture_dropped"] == 0)
        sent += send_numbers(*port, engine::Time(1s), 0, 1000);
    CHECK(counters(*port)["capture_dropped"] > 0);
    CHECK(counters(*port)["capture_dropped"] + counters(*port)["capture_frames"] == sent);
    CHECK(script.sent.size() == sent);
    std::signal(SIGPIPE, SIG_IGN);  // as in the daemon
    close(reader);                  // the writer's next write fails instead of waiting for ever
    port.reset();
}

TEST_CASE("capture: a full disk is counted", "[nic][capture]") {
    if (access("/dev/full", W_OK) != 0) ROCEM_SKIP("no /dev/full that can be written");
    Script script;
    script.room = 1'000'000;
    auto made = daemon::make_capture_port(make_scripted_port(script), "/dev/full", {});
    REQUIRE(made);
    std::unique_ptr<daemon::PacketPort> port = std::move(*made);
    // The writer sees the error when it flushes, and from then on with each frame.
    std::uint64_t sent = 0;
    while (counters(*port)["capture_write_errors"] == 0)
        sent += send_numbers(*port, engine::Time(1s), 0, 100);
    CHECK(script.sent.size() == sent);
}

}  // namespace
}  // namespace rocem::test
