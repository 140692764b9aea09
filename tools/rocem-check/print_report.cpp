#include "tools/rocem-check/print_report.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string_view>
#include <utility>

namespace rocem::tools {
namespace {

double microseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

std::string qpn_text(const std::optional<protocol::Qpn>& qpn) {
    return qpn ? fmt::format(" qp {:#x}", qpn->value()) : std::string();
}

std::string address_text(const protocol::Gid& gid) {
    return gid.is_ipv4_mapped() ? gid.as_ipv4().to_string() : gid.as_ipv6().to_string();
}

std::string head_line(const ConnectionReport& connection) {
    const std::string mtu = connection.mtu ? fmt::format(", MTU {}", *connection.mtu) : std::string();
    return fmt::format("{} {}{} > {}{}, frames {} to {}{}", protocol::service_name(connection.service),
                       address_text(connection.requester), qpn_text(connection.requester_qpn),
                       address_text(connection.responder), qpn_text(connection.responder_qpn),
                       connection.first_frame, connection.last_frame, mtu);
}

std::string counters_line(const ConnectionCounters& counters) {
    std::string text = fmt::format("{} requests, {} answers, {} messages", counters.requests,
                                   counters.answers, counters.messages);
    const std::pair<std::uint64_t, std::string_view> others[] = {
        {counters.packet_seq_err, "packet_seq_err"},
        {counters.local_ack_timeout_err, "local_ack_timeout_err"},
        {counters.implied_nak_seq_err, "implied_nak_seq_err"},
        {counters.rnr_nak_retry, "resends after RNR NAK"},
        {counters.out_of_sequence, "out_of_sequence"},
        {counters.sequence_naks, "sequence NAKs"},
        {counters.rnr_naks, "RNR NAKs"},
        {counters.fatal_naks, "fatal NAKs"},
        {counters.icrc_errors, "damaged"},
        {counters.copies, "copies"},
        {counters.lost_before_tap, "not seen"},
    };
    for (const auto& [count, name] : others) {
        if (count != 0) text += fmt::format(", {} {}", count, name);
    }
    return text;
}

}  // namespace

CheckCounts CheckCounts::of(const Report& report) {
    return {report.frames, report.connections.size(), report.requests(), report.violations(),
            report.deviations()};
}

void CheckCounts::add(const CheckCounts& other) {
    frames += other.frames;
    connections += other.connections;
    requests += other.requests;
    violations += other.violations;
    deviations += other.deviations;
}

std::string CheckCounts::line() const {
    return fmt::format("{} frames: {} connections, {} requests, {} violations, {} deviations", frames,
                       connections, requests, violations, deviations);
}

std::string describe(const Finding& finding, Profile profile) {
    std::string measured_by;
    for (std::size_t i = 1; i < finding.frames.size(); ++i) {
        if (finding.frames[i] != 0) measured_by += fmt::format(" (frame {})", finding.frames[i]);
    }
    return fmt::format("{} {}: frame {}{}: {}", finding.deviation ? "deviation" : "VIOLATION",
                       finding.name(profile), finding.frames.front(), measured_by, finding.text);
}

std::string describe(const Gap& gap) {
    const std::string psn = fmt::format("psn {:#x}", gap.psn.value());
    std::string text = "gap at " + psn;
    if (gap.seen_frame) text += fmt::format(" (frame {})", *gap.seen_frame);
    if (gap.nak_frame) text += fmt::format(", NAK (frame {})", *gap.nak_frame);
    if (gap.gap_to_nak) text += fmt::format(" after {:.1f} us", microseconds(*gap.gap_to_nak));
    if (gap.resend_frame) text += fmt::format(", resent from {} (frame {})", psn, *gap.resend_frame);
    if (gap.nak_to_resend) text += fmt::format(" after {:.1f} us", microseconds(*gap.nak_to_resend));
    if (!gap.repaired) text += ", never repaired";
    return text;
}

void print_report(std::ostream& out, const Report& report) {
    for (const ConnectionReport& connection : report.connections) {
        out << head_line(connection) << '\n';
        out << "  " << counters_line(connection.counters) << '\n';
        if (connection.shortest_timeout) {
            out << fmt::format("  shortest timeout {:.1f} us\n", microseconds(*connection.shortest_timeout));
        }
        for (const Gap& gap : connection.gaps)
            out << "  " << describe(gap) << '\n';
        for (const Finding& finding : connection.findings)
            out << "  " << describe(finding, report.profile) << '\n';
    }
    for (const Finding& finding : report.findings)
        out << describe(finding, report.profile) << '\n';
    if (report.answers_without_requests != 0)
        out << report.answers_without_requests << " answers without requests\n";
    if (report.datagrams != 0) out << report.datagrams << " UD packets, not judged\n";
    if (report.cnps != 0) out << report.cnps << " CNPs\n";
}

}  // namespace rocem::tools
