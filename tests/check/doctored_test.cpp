// Captures of Linux rxe, doctored: what the requester does wrong is found, by name and frame.
#include <catch2/catch.hpp>

#include "tests/check/trace.hpp"
#include "tools/rocem-check/print_report.hpp"

using namespace rocem::tools;
using namespace rocem::test;
using namespace std::chrono_literals;

namespace {

// One dropped packet: the NAK in frame 5, the resend from frame 7 on. (The peer's second NAK is taken out.)
Trace one_repaired_gap() {
    Trace trace = Trace::of("host_rc_resp_silent.pcap");
    trace.erase(7);
    return trace;
}

CheckOptions tapped_at(Tap tap) {
    CheckOptions options;
    options.tap = tap;
    return options;
}

CheckOptions with_timeout(unsigned n) {
    CheckOptions options;
    options.ack_timeout = ack_timeout(n);
    return options;
}

}  // namespace

TEST_CASE("a repaired gap is told, and is no finding", "[check]") {
    const Tap tap = GENERATE(Tap::anywhere, Tap::senders, Tap::requester);
    const Report report = one_repaired_gap().check(tapped_at(tap));
    CHECK(findings_of(report).empty());
    REQUIRE(report.connections.size() == 1);
    const ConnectionReport& connection = report.connections.front();
    CHECK(connection.counters.packet_seq_err == 1);
    CHECK(connection.counters.local_ack_timeout_err == 0);
    CHECK(connection.counters.sequence_naks == 1);
    REQUIRE(connection.gaps.size() == 1);
    const Gap& gap = connection.gaps.front();
    CHECK(gap.psn == rocem::protocol::Psn(0x501));
    CHECK(gap.seen_frame == 4u);
    CHECK(gap.nak_frame == 5u);
    CHECK(gap.resend_frame == 7u);
    CHECK(gap.gap_to_nak == 578us);      // 3.173 ms to 3.751 ms
    CHECK(gap.nak_to_resend == 1056us);  // to 4.807 ms
    CHECK(describe(gap) ==
          "gap at psn 0x501 (frame 4), NAK (frame 5) after 578.0 us, resent from psn 0x501 (frame 7) after "
          "1056.0 us");
}

TEST_CASE("an unrepaired gap is told", "[check]") {
    Trace trace = one_repaired_gap();
    trace.keep(1, 6);
    const Report report = trace.check();
    CHECK(findings_of(report).empty());
    REQUIRE(report.connections.front().gaps.size() == 1);
    CHECK_FALSE(report.connections.front().gaps.front().repaired);
    CHECK(describe(report.connections.front().gaps.front()) ==
          "gap at psn 0x501 (frame 4), NAK (frame 5) after 578.0 us, never repaired");

    CheckOptions ended;
    ended.ended = true;
    CHECK(findings_of(trace.check(ended)) == "never repaired 5\n");
}

TEST_CASE("a resend whose NAK was taken out has no reason", "[check]") {
    Trace trace = one_repaired_gap();
    trace.erase(5);
    CHECK(findings_of(trace.check(with_timeout(14))) == "resend without reason 6 3\n");
    // T is not known: it may have been a timeout.
    const Report report = trace.check();
    CHECK(findings_of(report).empty());
    CHECK(report.connections.front().counters.local_ack_timeout_err == 1);
}

TEST_CASE("a resend before T has no reason", "[check]") {
    // rxe with timeout 12, 16.8 ms: psn 0x100 in frames 1 and 19, 17.4 ms later.
    const Trace trace = Trace::of("t_loss_ack.pcap");
    CheckOptions options = with_timeout(12);
    options.profile = Profile::rxe;
    options.slack = 1ms;  // frame 61 comes 16.6 ms after frame 55
    CHECK(trace.check(options).violations() == 0);
    CHECK(trace.check(options).connections.front().counters.local_ack_timeout_err == 2);
    Trace early = trace;
    early.keep(1, 19);
    early.move_to(19, ack_timeout(12) - 10us);
    CHECK(findings_of(early.check(with_timeout(12))) == "resend without reason 19 1\n");
    early.move_to(19, ack_timeout(12));
    CHECK(findings_of(early.check(with_timeout(12))).empty());
}

TEST_CASE("a timeout later than 4 T is rxe's habit", "[check]") {
    Trace trace = Trace::of("t_loss_ack.pcap");
    trace.keep(1, 19);
    CheckOptions options = with_timeout(8);  // 1.05 ms; 6.4 ms pass between frames 18 and 19
    CHECK(findings_of(trace.check(options)) == "late timeout 19 1\n");
    options.profile = Profile::rxe;
    CHECK(findings_of(trace.check(options)) == "timeout later than 4 T 19 1\n");
}

TEST_CASE("a PSN that is left out", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    trace.erase(2);
    CHECK(findings_of(trace.check(tapped_at(Tap::requester))).rfind("psn jump 2 1\n", 0) == 0);
    // Anywhere else it may have been lost, but not acknowledged: the ACK is the first one that covers it.
    const std::string findings = findings_of(trace.check());
    CHECK(findings.rfind("gap acknowledged ", 0) == 0);
    CHECK(findings.find("\n") == findings.size() - 1);
}

TEST_CASE("go-back-N that starts behind the NAK's PSN", "[check]") {
    Trace trace = one_repaired_gap();
    trace.erase(7);  // psn 0x501: the resend is now 0x502, 0x503
    CHECK(findings_of(trace.check(tapped_at(Tap::requester))).rfind("resend from wrong psn 7 5\n", 0) == 0);
    // Its first packet may have been lost before the tap, but then it was not acknowledged (frame 10).
    CHECK(findings_of(trace.check()) == "gap acknowledged 10 5\n");
}

TEST_CASE("go-back-N that starts before the NAK's PSN", "[check]") {
    Trace trace = one_repaired_gap();
    trace.insert_copy(1, 6);  // psn 0x500, acknowledged in frame 2
    CHECK(findings_of(trace.check(with_timeout(14))).rfind("resend from wrong psn 7 5\n", 0) == 0);
}

TEST_CASE("requests after a fatal NAK", "[check]") {
    const Trace trace = Trace::of("host_rc_requester.pcap");
    CHECK(findings_of(trace.check()).find("request after fatal NAK 61 60\n") != std::string::npos);
    Trace without = trace;
    without.erase(61);
    CHECK(findings_of(without.check()).find("fatal") == std::string::npos);
    // Right behind the NAK it may have crossed it on the way.
    Trace crossed = trace;
    crossed.move_to(61, crossed.time(60) + 1ms);
    CHECK(findings_of(crossed.check()).find("fatal") == std::string::npos);
    CHECK(findings_of(crossed.check(tapped_at(Tap::requester))).find("request after fatal NAK 61 60\n") !=
          std::string::npos);
}

TEST_CASE("a resend before the RNR NAK's timer ran out", "[check]") {
    Trace trace = Trace::of("t_rnr_one.pcap");  // timer 14: 1.28 ms
    CHECK(findings_of(trace.check()).empty());
    trace.move_to(3, trace.time(2) + 1280us);
    CHECK(findings_of(trace.check()).empty());
    trace.move_to(3, trace.time(2) + 1270us);
    CHECK(findings_of(trace.check()) == "resend before rnr timer 3 2\n");
}

TEST_CASE("a WRITE whose payloads are not what its RETH says", "[check]") {
    Trace trace = Trace::of("write_bw_mtu1024.pcap");
    CHECK(findings_of(trace.check()).empty());
    trace.set_dma_length(1, 8191);
    CHECK(findings_of(trace.check()) == "RETH length 8 1\n");
}

TEST_CASE("a message that does not ask for its ACK", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    trace.set_ack_request(3, false);
    CHECK(findings_of(trace.check()) == "AckReq missing 3\n");
}

TEST_CASE("a message out of order", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    trace.set_opcode(2, 0x02);  // LAST in the middle
    CHECK(findings_of(trace.check()).find("opcode sequence 3 2\n") != std::string::npos);
}

TEST_CASE("another packet under a used PSN", "[check]") {
    Trace trace = one_repaired_gap();
    trace.set_opcode(7, 0x01);  // it was SEND_FIRST in frame 3
    CHECK(findings_of(trace.check()) == "resend changed 7 3\n");
}

TEST_CASE("more READs than may be outstanding", "[check]") {
    const Trace trace = Trace::of("t_read_outstanding.pcap");  // max_rd_atomic 2
    CheckOptions options;
    options.max_rd_atomic = 2;
    CHECK(findings_of(trace.check(options)).empty());
    options.max_rd_atomic = 1;
    CHECK(findings_of(trace.check(options)).rfind("too many outstanding 2\n", 0) == 0);
}

TEST_CASE("a READ asked for again from too far", "[check]") {
    Trace trace = Trace::of("t_loss_read.pcap");
    CheckOptions options;
    options.profile = Profile::rxe;
    CHECK(trace.check(options).violations() == 0);
    // Frame 50 asks from psn 0x104, first seen in frame 49.
    Trace skips = trace;
    skips.erase(49);
    CHECK(findings_of(skips.check(options)).find("re-READ skips 49") == std::string::npos);
    skips.set_psn(49, 0x107);
    CHECK(findings_of(skips.check(options)).find("re-READ skips 49 1\n") != std::string::npos);
    Trace wrong = trace;
    wrong.set_dma_length(50, 9000);
    CHECK(findings_of(wrong.check(options)).find("re-READ wrong 50 1\n") != std::string::npos);
}
