// Traces made by hand: what the captures do not hold.
#include "tests/check/made_trace.hpp"

#include <catch2/catch.hpp>

#include "tests/check/trace.hpp"

using namespace rocem::tools;
using namespace rocem::test;
using namespace std::chrono_literals;
using rocem::protocol::Opcode;
using rocem::protocol::Service;

namespace {

constexpr std::uint8_t sequence_nak = 0x60;
constexpr std::uint8_t remote_access_nak = 0x62;

CheckOptions as_sent(unsigned timeout = 8) {
    CheckOptions options;
    options.tap = Tap::senders;
    options.ack_timeout = ack_timeout(timeout);
    options.ended = true;
    return options;
}

// One message of three packets, whose second is lost, and which is repaired across the end of the PSNs.
void lose_and_repair(MadeTrace& trace) {
    trace.send(Opcode::rc_send_first, 0xfffffe);
    trace.send(Opcode::rc_send_middle, 0xffffff);
    trace.send(Opcode::rc_send_last, 0x0);
    trace.ack(0xffffff, 0, sequence_nak);
    trace.send(Opcode::rc_send_middle, 0xffffff);
    trace.send(Opcode::rc_send_last, 0x0);
    trace.ack(0x0, 1);
}

}  // namespace

TEST_CASE("every encapsulation and service, across the PSN wrap", "[check]") {
    const Outer outer = GENERATE(Outer::ipv4, Outer::ipv6, Outer::roce_v1);
    const bool xrc = GENERATE(false, true);
    MadeTrace trace(outer);
    if (xrc) trace.use_xrc();
    lose_and_repair(trace);
    const Report report = trace.check(as_sent());
    CHECK(findings_of(report).empty());
    REQUIRE(report.connections.size() == 1);
    const ConnectionReport& connection = report.connections.front();
    CHECK(connection.service == (xrc ? Service::xrc : Service::rc));
    CHECK(connection.mtu == 256u);
    CHECK(connection.requester_qpn == rocem::protocol::Qpn(0x11));
    CHECK(connection.counters.packet_seq_err == 1);
    REQUIRE(connection.gaps.size() == 1);
    CHECK(connection.gaps.front().gap_to_nak == 1us);
    CHECK(connection.gaps.front().nak_to_resend == 1us);
}

TEST_CASE("a second NAK over IPv6 may be a copy, unless it was tapped before the network", "[check]") {
    MadeTrace trace(Outer::ipv6);
    trace.send(Opcode::rc_send_only, 1);
    trace.send(Opcode::rc_send_only, 2);
    trace.ack(1, 0, sequence_nak);
    trace.ack(1, 0, sequence_nak);
    CHECK(findings_of(trace.check()).empty());
    CheckOptions options = as_sent();
    options.ended = false;
    CHECK(findings_of(trace.check(options)) == "second NAK 4 3\n");
}

TEST_CASE("a timeout starts at the oldest unacknowledged PSN", "[check]") {
    MadeTrace trace;
    trace.send(Opcode::rc_send_only, 1);
    trace.send(Opcode::rc_send_only, 2);
    trace.send(Opcode::rc_send_only, 3);
    trace.ack(1, 1);
    trace.wait(2ms);
    SECTION("as it should") {
        trace.send(Opcode::rc_send_only, 2);
        trace.send(Opcode::rc_send_only, 3);
        trace.ack(3, 3);
        const Report report = trace.check(as_sent());
        CHECK(findings_of(report).empty());
        CHECK(report.connections.front().counters.local_ack_timeout_err == 1);
        CHECK(report.connections.front().shortest_timeout == 2ms + 3us);
    }
    SECTION("its ACK may have been lost") {
        trace.send(Opcode::rc_send_only, 1);
        trace.send(Opcode::rc_send_only, 2);
        trace.send(Opcode::rc_send_only, 3);
        trace.ack(3, 3);
        CHECK(findings_of(trace.check(as_sent())).empty());
    }
    SECTION("not behind it") {
        trace.send(Opcode::rc_send_only, 3);
        CHECK(findings_of(trace.check(as_sent())).rfind("resend without reason 5 3\n", 0) == 0);
    }
}

TEST_CASE("a READ asked for again from its first missing response", "[check]") {
    MadeTrace trace;
    trace.read(10, 1000);  // 256 * 3 + 232: four responses
    trace.send(Opcode::rc_send_only, 14);
    trace.response(Opcode::rc_rdma_read_response_first, 10, 1, 256);
    trace.response(Opcode::rc_rdma_read_response_middle, 11, 1, 256);
    trace.response(Opcode::rc_rdma_read_response_middle, 12, 1, 256);
    trace.response(Opcode::rc_rdma_read_response_last, 13, 1, 232);
    trace.ack(14, 2);
    trace.read(12, 1000 - 512, 0x1000 + 512);  // psn 12 was lost on the way
    trace.send(Opcode::rc_send_only, 14);
    SECTION("answered FIRST, LAST") {
        trace.response(Opcode::rc_rdma_read_response_first, 12, 2, 256);
        trace.response(Opcode::rc_rdma_read_response_last, 13, 2, 232);
        trace.ack(14, 2);
        const Report report = trace.check(as_sent());
        CHECK(findings_of(report).empty());
        CHECK(report.connections.front().counters.implied_nak_seq_err == 1);
        CHECK(report.connections.front().counters.local_ack_timeout_err == 0);
    }
    SECTION("answered MIDDLE, LAST") {
        trace.response(Opcode::rc_rdma_read_response_middle, 12, 2, 256);
        trace.response(Opcode::rc_rdma_read_response_last, 13, 2, 232);
        CHECK(findings_of(trace.check(as_sent())) == "READ resumed with MIDDLE 10 8\n");
    }
}

TEST_CASE("an atomic whose answer was passed is asked for again", "[check]") {
    MadeTrace trace;
    trace.atomic(Opcode::rc_fetch_add, 1);
    trace.send(Opcode::rc_send_only, 2);
    trace.atomic_ack(1, 1, 42);
    trace.ack(2, 2);
    trace.atomic(Opcode::rc_fetch_add, 1);
    trace.send(Opcode::rc_send_only, 2);
    SECTION("and replayed") {
        trace.atomic_ack(1, 2, 42);
        trace.ack(2, 2);
        const Report report = trace.check(as_sent());
        CHECK(findings_of(report).empty());
        CHECK(report.connections.front().counters.implied_nak_seq_err == 1);
    }
    SECTION("and done again") {
        trace.atomic_ack(1, 2, 43);
        CHECK(findings_of(trace.check(as_sent())) == "atomic replay changed 7 3\n");
    }
}

TEST_CASE("a queue pair that is used again is another connection", "[check]") {
    MadeTrace trace;
    trace.send(Opcode::rc_rdma_write_only, 100);
    trace.ack(100, 0, remote_access_nak);
    trace.send(Opcode::rc_send_only, 0x700000);
    trace.ack(0x700000, 1);
    const Report report = trace.check(as_sent());
    CHECK(findings_of(report).empty());
    REQUIRE(report.connections.size() == 2);
    CHECK(report.connections[0].counters.fatal_naks == 1);
    CHECK(report.connections[0].last_frame == 2);
    CHECK(report.connections[1].first_frame == 3);
    CHECK(report.connections[1].counters.answers == 1);
}

TEST_CASE("a request long after a fatal NAK, though it was lost, comes from behind nothing", "[check]") {
    MadeTrace trace;
    trace.send(Opcode::rc_rdma_write_only, 1);
    trace.ack(1, 0, remote_access_nak);
    trace.wait(100ms);
    SECTION("the NAK was lost: a timeout goes back to it") {
        trace.send(Opcode::rc_rdma_write_only, 1);
        trace.send(Opcode::rc_send_only, 2);
        CHECK(findings_of(trace.check()).empty());
    }
    SECTION("it goes on") {
        trace.send(Opcode::rc_send_only, 2);
        CHECK(findings_of(trace.check()) == "request after fatal NAK 3 2\n");
        CHECK(findings_of(trace.check(as_sent())) == "request after fatal NAK 3 2\n");
    }
}

TEST_CASE("seven retries, not eight", "[check]") {
    MadeTrace trace;
    trace.send(Opcode::rc_send_only, 1);
    trace.ack(1, 1);
    for (int transmission = 0; transmission < 8; ++transmission) {
        trace.send(Opcode::rc_send_only, 2);
        trace.wait(2ms);
    }
    CHECK(findings_of(trace.check(as_sent())).empty());
    trace.send(Opcode::rc_send_only, 2);
    CHECK(findings_of(trace.check(as_sent())) == "retries without end 11\n");
}

TEST_CASE("what is open when all is done", "[check]") {
    MadeTrace trace;
    trace.send(Opcode::rc_send_only, 1);
    trace.ack(1, 1);
    trace.send(Opcode::rc_send_only, 2);
    CHECK(findings_of(trace.check(as_sent())) == "never repaired 3\n");
    trace.ack(2, 2);
    CHECK(findings_of(trace.check(as_sent())).empty());
}
