// Whole replays of small captures: what is equal, what is explained, and that nothing else is.
#include "tools/rocem-replay/comparison.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/replay/frames.hpp"

namespace rocem::test {
namespace {

constexpr std::uint64_t va = 0x7f0000000000;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

RocePacket read_response(std::uint32_t psn, std::uint32_t msn, std::vector<std::byte> payload) {
    RocePacket packet = ack(psn, msn);
    packet.opcode = Op::read_response_only;
    packet.payload = std::move(payload);
    return packet;
}

tools::SideFile side_file(const std::string& responder, bool cut = false) {
    const auto file = tools::parse_side_file(R"({"cut": )" + std::string(cut ? "true" : "false") +
                                             R"(, "responders": [{"qpn": "0x52")" + responder + "}]}");
    REQUIRE(file);
    return *file;
}

std::string replayed(const tools::Capture& capture, const std::optional<tools::SideFile>& file = {}) {
    return tools::replay(copy_of(capture), file, "made_by_hand.pcap").counts().line();
}

std::string why(const tools::Capture& capture, const std::optional<tools::SideFile>& file = {}) {
    std::string text;
    for (const auto& connection : tools::replay(copy_of(capture), file, "made_by_hand.pcap").connections) {
        for (const tools::Finding& finding : connection.findings) {
            if (!finding.why.empty()) text += finding.why + "; ";
        }
    }
    return text;
}

// WRITE, READ of the same bytes, SEND.
CaptureBuilder write_read_send() {
    return CaptureBuilder()
        .request(write_only(0x100, va, bytes_of({1, 2, 3, 4})))
        .answer(ack(0x100, 1))
        .request(read_request(0x101, va, 4))
        .answer(read_response(0x101, 2, bytes_of({1, 2, 3, 4})))
        .request(send_only(0x102))
        .answer(ack(0x102, 3));
}

TEST_CASE("a peer that answers by the rules answers as the engine does", "[comparison]") {
    CHECK(replayed(write_read_send().build()) ==
          "1 connections: 3 requests, 3 answers equal, 0 different, 0 explained, 0 not compared");
}

TEST_CASE("an altered answer is different, whichever part was altered", "[comparison]") {
    const tools::Capture good = write_read_send().build();
    const auto alteration =
        GENERATE(Alteration::psn, Alteration::syndrome, Alteration::msn, Alteration::payload);
    for (const std::size_t index : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
        if (!has_part(good[index], alteration)) continue;
        const auto capture = with_frame(good, index, altered(good[index], alteration));
        REQUIRE(capture[index].intact());
        CAPTURE(index, static_cast<int>(alteration));
        CHECK(tools::replay(copy_of(capture), {}, "x.pcap").counts().different >= 1);
    }
}

TEST_CASE("the report of a difference names the part", "[comparison]") {
    const tools::Capture good = write_read_send().build();
    const auto with = [&](std::size_t index, Alteration alteration) {
        return with_frame(good, index, altered(good[index], alteration));
    };
    CHECK(why(with(1, Alteration::msn)) == "MSN differs; ");
    CHECK(why(with(3, Alteration::payload)) == "payload differs; ");
    CHECK(why(with(5, Alteration::psn)) == "PSN differs; ");
}

TEST_CASE("a missing answer that nothing explains is different", "[comparison]") {
    const tools::Capture good = write_read_send().build();
    for (const std::size_t index : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
        CHECK(replayed(without_frame(good, index)) ==
              "1 connections: 3 requests, 2 answers equal, 1 different, 0 explained, 0 not compared");
    }
}

TEST_CASE("an answer with a wrong ICRC is an answer that never came", "[comparison]") {
    const tools::Capture good = write_read_send().build();
    auto bytes = good[1].bytes;
    bytes.back() ^= std::byte{1};
    CHECK(replayed(with_frame(good, 1, bytes)) ==
          "1 connections: 3 requests, 2 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("a later request for the same PSN explains a missing answer", "[comparison]") {
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))  // its ACK was lost
                             .request(send_only(0x100))  // a duplicate: one ACK, and that one came
                             .answer(ack(0x100, 1))
                             .build();
    CHECK(replayed(capture) ==
          "1 connections: 2 requests, 1 answers equal, 0 different, 1 explained, 0 not compared");
    CHECK_THAT(why(capture), Catch::Matchers::Contains("another copy of the answer"));

    const auto read_again =
        CaptureBuilder().request(read_request(0x100, va, 4)).request(read_request(0x100, va, 4)).build();
    CHECK(replayed(read_again) ==
          "1 connections: 2 requests, 0 answers equal, 1 different, 1 explained, 0 not compared");
    CHECK_THAT(why(read_again), Catch::Matchers::Contains("a later request covers it"));
}

TEST_CASE("a link that loses answers explains a missing one, not a wrong one", "[comparison]") {
    const auto lossy = side_file(R"(, "answers_lost": true)");
    const tools::Capture good = write_read_send().build();
    CHECK(replayed(without_frame(good, 3), lossy) ==
          "1 connections: 3 requests, 2 answers equal, 0 different, 1 explained, 0 not compared");
    CHECK(replayed(with_frame(good, 1, altered(good[1], Alteration::msn)), lossy) ==
          "1 connections: 3 requests, 2 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("a cut capture explains only what is missing at its end", "[comparison]") {
    const tools::Capture good = write_read_send().build();
    CHECK(replayed(without_frame(good, 5), side_file("", true)) ==
          "1 connections: 3 requests, 2 answers equal, 0 different, 1 explained, 0 not compared");
    CHECK(replayed(without_frame(good, 3), side_file("", true)) ==
          "1 connections: 3 requests, 2 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("a peer that is known to coalesce need not answer every request", "[comparison]") {
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .request(send_only(0x101))
                             .request(send_only(0x102))
                             .answer(ack(0x101, 2))
                             .build();
    CHECK(replayed(capture, side_file(R"(, "acks": "coalesced")")) ==
          "1 connections: 3 requests, 1 answers equal, 1 different, 1 explained, 0 not compared");
    CHECK(replayed(capture) ==
          "1 connections: 3 requests, 1 answers equal, 2 different, 0 explained, 0 not compared");
}

TEST_CASE("a peer that ACKs every packet is answered for every packet", "[comparison]") {
    RocePacket quiet = send_only(0x100);
    quiet.ack_request = false;
    const auto capture = CaptureBuilder()
                             .request(quiet)
                             .answer(ack(0x100, 1))
                             .request(send_only(0x101))
                             .answer(ack(0x101, 2))
                             .build();
    CHECK(replayed(capture, side_file(R"(, "acks": "every_packet")")) ==
          "1 connections: 2 requests, 2 answers equal, 0 different, 0 explained, 0 not compared");
    CHECK(replayed(capture) ==
          "1 connections: 2 requests, 1 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("after a fatal difference the rest is not compared", "[comparison]") {
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .answer(ack(0x100, 0, syndrome_invalid_request))
                             .request(send_only(0x101))
                             .answer(ack(0x101, 2))
                             .build();
    CHECK(replayed(capture) ==
          "1 connections: 2 requests, 0 answers equal, 1 different, 0 explained, 1 not compared");
}

TEST_CASE("a frame that the capture cut off ends the comparison of its connection", "[comparison]") {
    RocePacket request = send_only(0x101, 64);
    request.dest_qpn = responder_qpn;
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .answer(ack(0x100, 1))
                             .frame(write_frame(request, requester_address(), responder_address()), 60)
                             .answer(ack(0x101, 2))
                             .build();
    CHECK(replayed(capture) ==
          "1 connections: 1 requests, 1 answers equal, 0 different, 0 explained, 1 not compared");
    CHECK_THAT(why(capture), Catch::Matchers::Contains("frame 3 is cut off by the capture"));
}

TEST_CASE("an answer that the capture cut off is not compared", "[comparison]") {
    RocePacket response = read_response(0x100, 1, std::vector<std::byte>(64));
    response.dest_qpn = requester_qpn;
    const auto capture = CaptureBuilder()
                             .request(read_request(0x100, va, 64))
                             .frame(write_frame(response, responder_address(), requester_address()), 70)
                             .build();
    CHECK(replayed(capture) ==
          "1 connections: 1 requests, 0 answers equal, 0 different, 0 explained, 1 not compared");
}

TEST_CASE("receives come when the side file says so", "[comparison]") {
    constexpr std::uint8_t timer = 14;
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .answer(ack(0x100, 0, syndrome_rnr | timer))
                             .request(send_only(0x100))
                             .answer(ack(0x100, 1))
                             .build();
    const char* equal =
        "1 connections: 2 requests, 2 answers equal, 0 different, 0 explained, 0 not compared";
    CHECK(replayed(capture, side_file(R"(, "min_rnr_timer": 14,
        "receives": [{"count": 1, "length": 64, "before_frame": 3}])")) == equal);
    CHECK(replayed(capture) == equal);  // inferred
    CHECK(replayed(capture, side_file(R"(, "min_rnr_timer": 13,
        "receives": [{"count": 1, "length": 64, "before_frame": 3}])")) ==
          "1 connections: 2 requests, 1 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("a single RNR NAK without a second try is not believed without a side file", "[comparison]") {
    const auto capture =
        CaptureBuilder().request(send_only(0x100)).answer(ack(0x100, 0, syndrome_rnr | 14)).build();
    CHECK(replayed(capture) ==
          "1 connections: 1 requests, 0 answers equal, 1 different, 0 explained, 0 not compared");
    CHECK(replayed(capture, side_file(R"(, "min_rnr_timer": 14, "receives": [])")) ==
          "1 connections: 1 requests, 1 answers equal, 0 different, 0 explained, 0 not compared");
}

TEST_CASE("memory that the application changes is taken as each READ shows it", "[comparison]") {
    const auto capture = CaptureBuilder()
                             .request(read_request(0x100, va, 4))
                             .answer(read_response(0x100, 1, bytes_of({1, 2, 3, 4})))
                             .request(read_request(0x101, va, 4))
                             .answer(read_response(0x101, 2, bytes_of({9, 2, 3, 4})))
                             .build();
    CHECK(replayed(capture) ==
          "1 connections: 2 requests, 1 answers equal, 1 different, 0 explained, 0 not compared");
    CHECK(
        replayed(capture, side_file(R"(, "regions": [{"va": "0x7f0000000000", "length": 4, "r_key": "0x1234",
        "access": ["remote_read"], "changed_by_application": true}])")) ==
        "1 connections: 2 requests, 2 answers equal, 0 different, 0 explained, 0 not compared");
}

TEST_CASE("bytes known from the start are compared with the first READ", "[comparison]") {
    const auto capture = CaptureBuilder()
                             .request(read_request(0x100, va + 1, 4))
                             .answer(read_response(0x100, 1, bytes_of({0xc1, 0xc0, 0xc1, 0xc2})))
                             .build();
    const auto with_initial = [](const std::string& initial) {
        return side_file(R"(, "regions": [{"va": "0x7f0000000000", "length": 64, "r_key": "0x1234",
            "access": ["remote_read"], "initial": )" +
                         initial + "}]");
    };
    CHECK(replayed(capture, with_initial(R"({"repeat": "c2c1c0c1"})")) ==
          "1 connections: 1 requests, 1 answers equal, 0 different, 0 explained, 0 not compared");
    CHECK(replayed(capture, with_initial(R"({"then_zeros": "c2c1"})")) ==
          "1 connections: 1 requests, 0 answers equal, 1 different, 0 explained, 0 not compared");
}

TEST_CASE("a READ of gigabytes that nobody answered ends the play, not the machine", "[comparison]") {
    const auto capture = CaptureBuilder().request(read_request(0x100, va, 0x80000000)).build();
    const auto result = tools::replay(copy_of(capture), {}, "x.pcap");
    REQUIRE(result.connections.size() == 1);
    CHECK(result.connections.front().play.stop.has_value());
}

}  // namespace
}  // namespace rocem::test
