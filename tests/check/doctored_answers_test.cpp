// Captures of Linux rxe, doctored: what the responder does wrong is found, by name and frame.
#include <catch2/catch.hpp>

#include "tests/check/trace.hpp"

using namespace rocem::tools;
using namespace rocem::test;
using namespace rocem::protocol;

namespace {

CheckOptions tapped_at(Tap tap) {
    CheckOptions options;
    options.tap = tap;
    return options;
}

// Frames of send_bw that are ACKs, in order.
std::vector<std::size_t> acks_of(Trace& trace) {
    std::vector<std::size_t> numbers;
    for (std::size_t number = 1; number <= trace.size(); ++number) {
        const auto packet = parse_frame(trace.bytes(number));
        if (packet && packet->roce.info->operation == Operation::acknowledge) numbers.push_back(number);
    }
    return numbers;
}

RocePacket packet_of(Trace& trace, std::size_t number) {
    return parse_frame(trace.bytes(number))->roce;
}

std::string finding(const std::string& name, std::size_t frame, std::size_t measured_by) {
    return name + " " + std::to_string(frame) + " " + std::to_string(measured_by) + "\n";
}

}  // namespace

TEST_CASE("a second NAK for one gap", "[check]") {
    const Trace trace = Trace::of("host_rc_resp_silent.pcap");
    CHECK(findings_of(trace.check()) == "second NAK 7 5\n");

    Trace inserted = Trace::of("t_loss_data.pcap");
    CHECK(findings_of(inserted.check()).empty());
    inserted.insert_copy(19, 22);
    CHECK(findings_of(inserted.check()) == "second NAK 23 19\n");
    // The network made the copy.
    Trace copied = Trace::of("t_loss_data.pcap");
    copied.insert_duplicate(19, 22);
    const Report report = copied.check();
    CHECK(findings_of(report).empty());
    CHECK(report.connections.front().counters.copies == 1);
    // Before the network there are no copies.
    Trace sent = Trace::of("host_rc_resp_silent.pcap");
    sent.erase(7);
    sent.insert_duplicate(5, 6);
    CHECK(findings_of(sent.check(tapped_at(Tap::responder))) == "second NAK 7 5\n");
}

TEST_CASE("a NAK of a PSN that is not the first lost one", "[check]") {
    Trace trace = Trace::of("t_loss_data.pcap");  // 0x10b and 0x10f are missing
    trace.keep(1, 19);
    trace.set_psn(19, 0x10f);
    CHECK(findings_of(trace.check()) == "NAK of wrong psn 19 12\n");
    trace.set_psn(19, 0x113);
    CHECK(findings_of(trace.check()) == "NAK of wrong psn 19 12\n");
    // Nothing is missing, and nothing was sent behind it.
    Trace none = Trace::of("send_bw.pcap");
    const std::size_t last = acks_of(none).back();
    none.set_syndrome(last, 0x60);
    CHECK(findings_of(none.check()) == "NAK without gap " + std::to_string(last) + "\n");
    none.set_psn(last, packet_of(none, last).bth.psn.next().value());
    CHECK(findings_of(none.check()) == "NAK without gap " + std::to_string(last) + "\n");
}

TEST_CASE("an ACK that goes back", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    CHECK(findings_of(trace.check()).empty());
    const auto acks = acks_of(trace);
    REQUIRE(acks.size() == 10);
    trace.set_psn(acks[4], packet_of(trace, acks[3]).bth.psn.minus(1).value());
    CHECK(findings_of(trace.check()) == finding("ack backwards", acks[4], acks[3]));
    CheckOptions reordering;
    reordering.reordering = true;
    CHECK(findings_of(trace.check(reordering)).find("ack backwards") == std::string::npos);
}

TEST_CASE("an ACK of what was not sent", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    const auto acks = acks_of(trace);
    trace.set_psn(acks.back(), packet_of(trace, acks.back()).bth.psn.next().value());
    CHECK(findings_of(trace.check()) == "ack beyond sent " + std::to_string(acks.back()) + "\n");
}

TEST_CASE("an ACK of what arrived damaged", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    trace.damage(2);
    const Report report = trace.check();
    const std::string findings = findings_of(report);
    CHECK(findings.rfind("gap acknowledged ", 0) == 0);
    CHECK(report.connections.front().counters.icrc_errors == 1);
}

TEST_CASE("an MSN that jumps", "[check]") {
    Trace trace = Trace::of("send_bw.pcap");
    const auto acks = acks_of(trace);
    trace.set_msn(acks[9], packet_of(trace, acks[9]).aeth.msn.value() + 1);
    CHECK(findings_of(trace.check()) == finding("msn", acks[9], acks[8]));
    trace.set_msn(acks[9], packet_of(trace, acks[8]).aeth.msn.value());
    CHECK(findings_of(trace.check()) == finding("msn", acks[9], acks[8]));
}

TEST_CASE("READ responses with a wrong opcode, PSN or length", "[check]") {
    Trace clean = Trace::of("read_bw_mtu4096.pcap");  // 10001 bytes: FIRST, MIDDLE, LAST for each request
    CHECK(findings_of(clean.check()).empty());
    CHECK(findings_of(clean.check(tapped_at(Tap::responder))).empty());
    REQUIRE(packet_of(clean, 4).info->name == "RDMA_READ_RESPONSE_LAST");
    const std::uint32_t last = packet_of(clean, 4).bth.psn.value();

    Trace opcode = clean;
    opcode.set_opcode(4, 0x0d);
    CHECK(findings_of(opcode.check()) == "READ response opcode 4 1\n");
    Trace psn = clean;
    psn.set_psn(4, last - 1);
    CHECK(findings_of(psn.check()).find("READ response length 4 1\nREAD response opcode 4 1\n") == 0);
    psn.set_psn(4, last + 1);
    CHECK(findings_of(psn.check()).rfind("READ response unasked 4\n", 0) == 0);
    Trace length = clean;
    length.set_dma_length(1, 10000);
    CHECK(findings_of(length.check()) == "READ response length 4 1\n");
    Trace gap = clean;
    gap.erase(3);
    CHECK(findings_of(gap.check(tapped_at(Tap::responder))) == "READ response gap 3 2\n");
    CHECK(findings_of(gap.check()).empty());
}

TEST_CASE("an ACK before the READ responses it covers", "[check]") {
    Trace trace = Trace::of("t_psnwrap.pcap");
    CHECK(findings_of(trace.check(tapped_at(Tap::responder))).empty());
    // The READ's answers in frames 9, 11, 13, 14 and 15; the ACK of the WRITE behind it in frame 20.
    trace.erase(15);
    CHECK(findings_of(trace.check(tapped_at(Tap::responder))).rfind("ACK before READ response 19 7\n", 0) ==
          0);
}

TEST_CASE("a duplicate atomic that gets another value", "[check]") {
    Trace trace = Trace::of("t_dup.pcap");
    CHECK(findings_of(trace.check()).empty());
    trace.set_original(32, 0x312a231c150e0701);
    CHECK(findings_of(trace.check()) == "atomic replay changed 32 31\n");
}

TEST_CASE("an atomic's answer without an atomic", "[check]") {
    Trace trace = Trace::of("t_psnwrap.pcap");
    trace.set_psn(22, 0xd);
    CHECK(findings_of(trace.check()).find("atomic answer unasked 22\n") != std::string::npos);
}

TEST_CASE("an answer after a fatal NAK", "[check]") {
    Trace trace = Trace::of("t_badrkey_write.pcap");
    CHECK(findings_of(trace.check()).empty());
    const auto acks = acks_of(trace);
    REQUIRE(acks.size() == 2);
    trace.insert_copy(acks[0], trace.size());
    CHECK(findings_of(trace.check()) == finding("answer after fatal NAK", trace.size(), acks[1]));
}

TEST_CASE("an RNR NAK without a new arrival", "[check]") {
    Trace trace = Trace::of("t_rnr_one.pcap");
    trace.keep(1, 2);
    trace.insert_copy(2, 2);
    CheckOptions options;
    options.duplication = false;
    CHECK(findings_of(trace.check(options)) == "RNR NAK again 3 2\n");
    // The network may have copied the request behind the tap.
    CHECK(findings_of(trace.check()).empty());
}

TEST_CASE("a sequence NAK after an RNR NAK is rxe's habit", "[check]") {
    Trace trace = Trace::of("t_rnr.pcap");
    trace.keep(1, 10);
    CHECK(findings_of(trace.check()) == "NAK after RNR NAK 6 5\n");
    CheckOptions rxe;
    rxe.profile = Profile::rxe;
    CHECK(findings_of(trace.check(rxe)) == "sequence NAK after RNR NAK 6 5\n");
}

TEST_CASE("UC has no answers", "[check]") {
    Trace trace = Trace::of("uc_pingpong.pcap");
    CHECK(findings_of(trace.check()).empty());
    Trace gap = trace;
    gap.erase(2);
    CHECK(findings_of(gap.check()).empty());  // UC loses, and nobody minds
    CHECK(gap.check().connections.front().counters.lost_before_tap == 1);
    trace.set_opcode(9, 0x11);  // an ACK to a queue pair that gets UC requests
    CHECK(findings_of(trace.check()).rfind("answer on UC 9 ", 0) == 0);
}
