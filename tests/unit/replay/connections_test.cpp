#include "tools/rocem-replay/connections.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/replay/frames.hpp"

namespace rocem::test {
namespace {

using Indices = std::vector<std::size_t>;

RocePacket to(RocePacket packet, std::uint32_t qpn) {
    packet.dest_qpn = qpn;
    return packet;
}

TEST_CASE("requests and their answers make a connection", "[connections]") {
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .request(send_only(0x101))
                             .answer(ack(0x100, 1))
                             .answer(ack(0x101, 2))
                             .build();
    const auto found = tools::find_connections(capture);
    REQUIRE(found.list.size() == 1);
    const tools::Connection& connection = found.list.front();
    CHECK(connection.requester.to_string() == protocol::Gid::from_string("10.0.0.1")->to_string());
    CHECK(connection.responder_qpn == protocol::Qpn(responder_qpn));
    CHECK(connection.requester_qpn == protocol::Qpn(requester_qpn));
    CHECK(connection.requests == Indices{0, 1});
    CHECK(connection.answers == Indices{2, 3});
}

TEST_CASE("a connection that carries requests both ways is two", "[connections]") {
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .answer(ack(0x100, 1))
                             .answer(to(send_only(0x900), requester_qpn))
                             .request(to(ack(0x900, 1), responder_qpn))
                             .build();
    const auto found = tools::find_connections(capture);
    REQUIRE(found.list.size() == 2);
    CHECK(found.list[0].requests == Indices{0});
    CHECK(found.list[0].answers == Indices{1});
    CHECK(found.list[1].requests == Indices{2});
    CHECK(found.list[1].answers == Indices{3});
    CHECK(found.list[1].responder_qpn == protocol::Qpn(requester_qpn));
    CHECK(found.list[1].requester_qpn == protocol::Qpn(responder_qpn));
}

TEST_CASE("connections between the same hosts are told apart by their PSNs", "[connections]") {
    const auto capture = CaptureBuilder()
                             .request(to(send_only(0x100), 0x20))
                             .request(to(send_only(0x8000), 0x21))
                             .answer(to(ack(0x8000, 1), 0x31))
                             .answer(to(ack(0x100, 1), 0x30))
                             .build();
    const auto found = tools::find_connections(capture);
    REQUIRE(found.list.size() == 2);
    CHECK(found.list[0].responder_qpn == protocol::Qpn(0x20));
    CHECK(found.list[0].requester_qpn == protocol::Qpn(0x30));
    CHECK(found.list[1].requester_qpn == protocol::Qpn(0x31));
}

TEST_CASE("an answer with a PSN that nobody asked for still belongs to the only connection",
          "[connections]") {
    const auto capture = CaptureBuilder().request(send_only(0x100)).answer(ack(0x7777, 1)).build();
    const auto found = tools::find_connections(capture);
    REQUIRE(found.list.size() == 1);
    CHECK(found.list.front().answers == Indices{1});
}

TEST_CASE("requests that nobody answers are a connection, answers to nothing are none", "[connections]") {
    const auto unanswered = CaptureBuilder().request(send_only(0x100)).build();
    const auto found = tools::find_connections(unanswered);
    REQUIRE(found.list.size() == 1);
    CHECK_FALSE(found.list.front().requester_qpn);

    const auto orphans = CaptureBuilder().answer(ack(0x100, 1)).answer(ack(0x101, 2)).build();
    CHECK(tools::find_connections(orphans).list.empty());
    CHECK(tools::find_connections(orphans).answers_without_requests == 2);
}

TEST_CASE("frames with a wrong ICRC are counted beside the connection", "[connections]") {
    auto bad_request =
        write_frame(to(send_only(0x101), responder_qpn), requester_address(), responder_address());
    bad_request.back() ^= std::byte{1};
    auto bad_answer = write_frame(to(ack(0x101, 2), requester_qpn), responder_address(), requester_address());
    bad_answer.back() ^= std::byte{1};
    const auto capture = CaptureBuilder()
                             .request(send_only(0x100))
                             .answer(ack(0x100, 1))
                             .frame(bad_request)
                             .frame(bad_answer)
                             .build();
    const auto found = tools::find_connections(capture);
    REQUIRE(found.list.size() == 1);
    CHECK(found.list.front().requests == Indices{0});
    CHECK(found.list.front().damaged_requests == 1);
    CHECK(found.list.front().answers == Indices{1});
    CHECK(found.list.front().damaged_answers == Indices{3});
}

TEST_CASE("a wrong ICRC alone opens no connection", "[connections]") {
    auto frame = write_frame(to(send_only(0x100), 0x99), requester_address(), responder_address());
    frame.back() ^= std::byte{1};
    CHECK(tools::find_connections(CaptureBuilder().frame(frame).build()).list.empty());
}

}  // namespace
}  // namespace rocem::test
