// What is no violation: captures that begin or end anywhere, that hold one direction, that lost frames.
#include <catch2/catch.hpp>

#include "tests/check/trace.hpp"
#include "tests/golden/captures.hpp"

using namespace rocem::tools;
using namespace rocem::test;
using namespace rocem::protocol;

namespace {

CheckOptions rxe() {
    CheckOptions options;
    options.profile = Profile::rxe;
    return options;
}

bool is_request(const Packet& packet) {
    return packet.is_roce() && packet.roce.info != nullptr && packet.roce.info->is_request;
}

bool is_answer(const Packet& packet) {
    return packet.is_roce() && packet.roce.info != nullptr && !packet.roce.info->is_request;
}

void check_no_violation(const std::string& what, const Trace& trace) {
    const Report report = trace.check(rxe());
    INFO(what << "\n" << findings_of(report));
    CHECK(report.violations() == 0);
}

}  // namespace

TEST_CASE("captures of one direction", "[check]") {
    for (const CaptureRow& row : capture_table()) {
        Trace requests = Trace::of(row.file);
        requests.keep_if(is_request);
        if (requests.size() != 0) check_no_violation(row.file + " requests", requests);
        Trace answers = Trace::of(row.file);
        answers.keep_if(is_answer);
        check_no_violation(row.file + " answers", answers);
    }
}

TEST_CASE("captures that end early", "[check]") {
    for (const CaptureRow& row : capture_table()) {
        const Trace whole = Trace::of(row.file);
        const std::size_t step = whole.size() / 12 + 1;
        for (std::size_t last = 1; last < whole.size(); last += step) {
            Trace cut = whole;
            cut.keep(1, last);
            check_no_violation(row.file + " to " + std::to_string(last), cut);
        }
    }
}

TEST_CASE("captures that begin late", "[check]") {
    for (const CaptureRow& row : capture_table()) {
        const Trace whole = Trace::of(row.file);
        const std::size_t step = whole.size() / 12 + 1;
        for (std::size_t first = 2; first <= whole.size(); first += step) {
            Trace cut = whole;
            cut.keep(first, whole.size());
            check_no_violation(row.file + " from " + std::to_string(first), cut);
        }
    }
}

TEST_CASE("the network copies any frame", "[check]") {
    for (const CaptureRow& row : capture_table()) {
        const Trace whole = Trace::of(row.file);
        const std::size_t step = whole.size() / 12 + 1;
        for (std::size_t number = 1; number <= whole.size(); number += step) {
            Trace copied = whole;
            copied.insert_duplicate(number, number);
            check_no_violation(row.file + " with two of " + std::to_string(number), copied);
        }
    }
}

TEST_CASE("what a lossy link did to rxe, counted", "[check]") {
    const auto counters_of = [](const std::string& file) {
        const Report report = Trace::of(file).check(rxe());
        REQUIRE(report.connections.size() == 1);
        return report.connections.front().counters;
    };
    // NAKs in frames 19, 29, 84, 137, 172, 181; resends after 19 (20), 84 (107), 172 (173).
    const ConnectionCounters data = counters_of("t_loss_data.pcap");
    CHECK(data.sequence_naks == 6);
    CHECK(data.icrc_errors == 0);
    // NAKs in frames 9 and 24.
    const ConnectionCounters corrupt = counters_of("t_corrupt.pcap");
    CHECK(corrupt.icrc_errors == 17);
    CHECK(corrupt.sequence_naks == 2);
    const ConnectionCounters copies = counters_of("t_dup.pcap");
    CHECK(copies.copies == 6);  // frames 2, 7, 11, 17, 27, 30; the answers are answers to each
    CHECK(copies.local_ack_timeout_err == 0);
    const ConnectionCounters rnr = counters_of("t_rnr.pcap");
    CHECK(rnr.rnr_naks == 19);
    CHECK(rnr.rnr_nak_retry == 19);
}
