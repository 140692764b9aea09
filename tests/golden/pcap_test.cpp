// The capture library: formats it reads, what it says of files it cannot read, and what it writes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/golden/pcap_files.hpp"
#include "tools/pcap/pcap_reader.hpp"
#include "tools/pcap/pcap_writer.hpp"

using namespace rocem::test;
using namespace std::chrono_literals;
using rocem::tools::PcapReader;
using rocem::tools::PcapWriter;

namespace {

struct Read {
    std::chrono::nanoseconds time{};
    std::vector<std::byte> bytes;
    std::size_t original_bytes = 0;
};

struct Result {
    std::vector<Read> frames;
    std::string error;
};

Result read(const std::string& path) {
    Result result;
    auto reader = PcapReader::open(path);
    if (!reader) {
        result.error = reader.error();
        return result;
    }
    for (;;) {
        const auto frame = reader->next();
        if (!frame) {
            result.error = frame.error();
            return result;
        }
        if (!*frame) return result;
        result.frames.push_back(
            {(*frame)->time, {(*frame)->bytes.begin(), (*frame)->bytes.end()}, (*frame)->original_bytes});
    }
}

std::vector<std::byte> bytes_of(std::size_t count, unsigned char first) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(first++);
    return bytes;
}

const std::vector<TimedFrame> two_frames = {{1000, 5, bytes_of(60, 1), 0},
                                            {1001, 999999, bytes_of(64, 9), 1500}};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("classic pcap of either byte order and either unit", "[pcap]") {
    const ByteOrder order = GENERATE(ByteOrder::little, ByteOrder::big);
    const bool nanoseconds = GENERATE(false, true);
    const TemporaryDirectory directory;
    const std::string path = directory.path("a.pcap");
    const auto magic = nanoseconds ? pcap_magic_nanoseconds : pcap_magic_microseconds;
    write_file(path, pcap_file({order, magic, link_type_ethernet}, two_frames));

    const Result result = read(path);
    CHECK(result.error.empty());
    REQUIRE(result.frames.size() == 2);
    const auto unit = nanoseconds ? std::chrono::nanoseconds(1) : std::chrono::nanoseconds(1000);
    CHECK(result.frames[0].time == 1000s + 5 * unit);
    CHECK(result.frames[1].time == 1001s + 999999 * unit);
    CHECK(result.frames[0].bytes == two_frames[0].bytes);
    CHECK(result.frames[0].original_bytes == 60);
    CHECK(result.frames[1].bytes.size() == 64);
    CHECK(result.frames[1].original_bytes == 1500);
}

TEST_CASE("pcapng with interfaces that count time in different units", "[pcap]") {
    const ByteOrder order = GENERATE(ByteOrder::little, ByteOrder::big);
    const TemporaryDirectory directory;
    const std::string path = directory.path("a.pcapng");
    const std::vector<PcapngInterface> interfaces = {{1, 65535, false}, {1, 65535, true}};
    write_file(path, pcapng_file(order, interfaces, two_frames));

    const Result result = read(path);
    CHECK(result.error.empty());
    REQUIRE(result.frames.size() == 2);
    CHECK(result.frames[0].time == 1000s + 5us);
    CHECK(result.frames[1].time == 1001s + 999999ns);
    CHECK(result.frames[0].bytes == two_frames[0].bytes);
    CHECK(result.frames[1].bytes == two_frames[1].bytes);
    CHECK(result.frames[1].original_bytes == 1500);
}

TEST_CASE("a capture without frames", "[pcap]") {
    const TemporaryDirectory directory;
    write_file(directory.path("empty.pcap"), pcap_file({}, {}));
    const Result result = read(directory.path("empty.pcap"));
    CHECK(result.error.empty());
    CHECK(result.frames.empty());
}

TEST_CASE("files that are no capture of Ethernet say so, and name themselves", "[pcap]") {
    const TemporaryDirectory directory;
    const auto check_error = [](const std::string& path, const std::string& part) {
        const Result result = read(path);
        INFO(result.error);
        CHECK(result.frames.empty());
        CHECK(result.error.rfind(path, 0) == 0);
        CHECK(contains(result.error, part));
    };
    check_error(directory.path("missing"), "No such file");
    check_error(directory.path(""), "directory");
    check_error("/dev/null", "truncated");
    write_file(directory.path("text"), bytes_of(200, 'a'));
    check_error(directory.path("text"), "unknown file format");
    write_file(directory.path("erf.pcap"),
               pcap_file({ByteOrder::little, pcap_magic_microseconds, link_type_erf}, two_frames));
    check_error(directory.path("erf.pcap"), "link type 197 (ERF) is not supported");
}

TEST_CASE("a file that ends inside a frame is an error behind the frames before it", "[pcap]") {
    const TemporaryDirectory directory;
    std::vector<std::byte> file = pcap_file({}, two_frames);
    // Inside the bytes of the second frame, inside its record header, and behind that.
    const std::size_t second_at = 24 + 16 + 60;
    const std::size_t length = GENERATE_COPY(second_at + 1, second_at + 16, second_at + 16 + 63);
    file.resize(length);
    write_file(directory.path("cut.pcap"), file);
    const Result result = read(directory.path("cut.pcap"));
    CHECK(result.frames.size() == 1);
    CHECK(contains(result.error, "truncated"));
}

TEST_CASE("what is written is read again, to the nanosecond", "[pcap]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path("out.pcap");
    {
        auto writer = PcapWriter::create(path);
        REQUIRE(writer);
        writer->write(bytes_of(60, 1), 1000s + 1ns);
        writer->write(bytes_of(64, 2), 1001s + 999999999ns, 1500);
        CHECK(writer->flush());
    }
    const Result result = read(path);
    CHECK(result.error.empty());
    REQUIRE(result.frames.size() == 2);
    CHECK(result.frames[0].time == 1000s + 1ns);
    CHECK(result.frames[1].time == 1001s + 999999999ns);
    CHECK(result.frames[0].bytes == bytes_of(60, 1));
    CHECK(result.frames[1].original_bytes == 1500);
}

TEST_CASE("a capture that cannot be written says so", "[pcap]") {
    const TemporaryDirectory directory;
    const auto missing = PcapWriter::create(directory.path("no/such/directory.pcap"));
    REQUIRE_FALSE(missing);
    CHECK(contains(missing.error(), "No such file"));

    auto full = PcapWriter::create("/dev/full");
    if (full) {
        full->write(bytes_of(60, 1), 0s);
        CHECK_FALSE(full->flush());
    }
}
