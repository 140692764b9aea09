// Traffic of Linux rxe, frame by frame: everything is understood, every ICRC is as the table says, every
// frame can be written again.
#include "tests/golden/captures.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "protocol/packet.hpp"
#include "tools/pcap/pcap_reader.hpp"

using namespace rocem::protocol;
using rocem::test::capture_path;
using rocem::test::capture_table;
using rocem::test::CaptureRow;
using rocem::tools::CapturedFrame;
using rocem::tools::PcapReader;

namespace {

template <class Visit>
void for_each_frame(const CaptureRow& row, Visit visit) {
    auto reader = PcapReader::open(capture_path(row.file));
    REQUIRE(reader);
    for (std::size_t number = 1;; ++number) {
        const auto frame = reader->next();
        REQUIRE(frame);
        if (!*frame) return;
        INFO(row.file << " frame " << number);
        visit(**frame);
    }
}

// Our name of an opcode in the table's words.
std::string short_name(const OpcodeInfo& info) {
    if (info.operation == Operation::cnp) return "CNP";
    std::string name = std::string(service_name(info.service)) + "_" + std::string(info.name);
    const std::pair<std::string, std::string> words[] = {{"RDMA_", ""},
                                                         {"REQUEST", "REQ"},
                                                         {"RESPONSE", "RESP"},
                                                         {"WITH_IMMEDIATE", "IMM"},
                                                         {"WITH_INVALIDATE", "INV"},
                                                         {"ACKNOWLEDGE", "ACK"},
                                                         {"COMPARE_SWAP", "CMP_SWAP"}};
    for (const auto& [ours, theirs] : words) {
        if (const auto at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
    }
    return name;
}

}  // namespace

TEST_CASE("the table lists 80 captures", "[golden]") {
    const auto rows = capture_table();
    CHECK(rows.size() == 80);
    std::size_t bad = 0;
    for (const CaptureRow& row : rows)
        bad += row.icrc_bad;
    CHECK(bad == 17 + 5);  // t_corrupt, and one in each host_rc_req*
}

TEST_CASE("every captured frame is parsed, with the ICRC that the table says", "[golden]") {
    for (const CaptureRow& row : capture_table()) {
        std::size_t frames = 0;
        std::size_t right = 0;
        std::size_t wrong = 0;
        std::map<std::string, std::size_t> opcodes;
        for_each_frame(row, [&](const CapturedFrame& frame) {
            ++frames;
            const auto packet = parse_frame(frame.bytes, frame.original_bytes);
            REQUIRE(packet);
            CHECK(packet->kind != FrameKind::other);
            if (!packet->is_roce()) return;
            ++opcodes[short_name(*packet->roce.info)];
            ++(icrc_is_right(packet->l3) ? right : wrong);
            CHECK(icrc_of(packet->l3.first(packet->l3.size() - icrc_bytes)) ==
                  icrc_of_slice_by_8(packet->l3.first(packet->l3.size() - icrc_bytes)));
        });
        INFO(row.file);
        CHECK(frames == row.frames);
        CHECK(right == row.icrc_ok);
        CHECK(wrong == row.icrc_bad);
        CHECK(opcodes == row.opcodes);
    }
}

TEST_CASE("every captured RoCE frame is written again byte for byte", "[golden]") {
    std::size_t written = 0;
    for (const CaptureRow& row : capture_table()) {
        for_each_frame(row, [&](const CapturedFrame& frame) {
            const auto packet = parse_frame(frame.bytes, frame.original_bytes);
            REQUIRE(packet);
            if (!packet->is_roce()) return;
            std::vector<std::byte> again(frame.bytes.size(), std::byte{0xa5});
            REQUIRE(re_encode(*packet, again) == frame.bytes.size());
            CHECK(std::equal(again.begin(), again.end(), frame.bytes.begin()));
            ++written;
        });
    }
    CHECK(written == 3273);  // the sum of the table's "ICRC ok/bad"
}

TEST_CASE("the receiver for which a captured frame was meant accepts it, or says why not", "[golden]") {
    for (const CaptureRow& row : capture_table()) {
        // Probes with a wrong UDP checksum or transport version, sent on purpose.
        const bool has_probes = row.file.rfind("host_rc_req", 0) == 0 || row.file == "host_ud_peer.pcap";
        std::size_t icrc_refused = 0;
        for_each_frame(row, [&](const CapturedFrame& frame) {
            const auto packet = parse_frame(frame.bytes, frame.original_bytes);
            REQUIRE(packet);
            if (!packet->is_roce()) return;
            const std::array<Gid, 1> gids = {destination_gid(*packet)};
            const Verdict verdict = accept(*packet, {packet->ethernet.destination, gids, {}, false});
            if (verdict.accepted) return;
            INFO(drop_reason_name(verdict.reason));
            if (verdict.reason == DropReason::icrc_mismatch) {
                ++icrc_refused;
                return;
            }
            const bool probe =
                verdict.reason == DropReason::udp_checksum || verdict.reason == DropReason::transport_version;
            // What corruption does to a field that is looked at before the ICRC.
            CHECK((row.file == "t_corrupt.pcap" || (has_probes && probe)));
        });
        INFO(row.file);
        CHECK(icrc_refused <= row.icrc_bad);
        if (row.file != "t_corrupt.pcap") CHECK(icrc_refused == row.icrc_bad);
    }
}
