#include "tests/check/trace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "protocol/icrc.hpp"
#include "tests/golden/captures.hpp"
#include "tools/check/trace_checker.hpp"
#include "tools/pcap/pcap_reader.hpp"

namespace rocem::test {
namespace {

// Ethernet 14, IPv4 20, UDP 8; the BTH's fields as rocev2.md 5.1 has them, and the AETH or RETH behind it.
constexpr std::size_t ip_at = 14;
constexpr std::size_t bth_at = ip_at + 20 + 8;
constexpr std::size_t ack_request_at = bth_at + 8;
constexpr std::size_t psn_at = bth_at + 9;
constexpr std::size_t extended_at = bth_at + 12;

}  // namespace

Trace Trace::of(const std::string& file) {
    auto reader = tools::PcapReader::open(capture_path(file));
    REQUIRE(reader);
    Trace trace;
    std::chrono::nanoseconds start{};
    for (auto frame = reader->next(); frame && *frame; frame = reader->next()) {
        if (trace.frames_.empty()) start = (*frame)->time;
        trace.frames_.push_back({(*frame)->time - start, {(*frame)->bytes.begin(), (*frame)->bytes.end()}});
    }
    REQUIRE(!trace.frames_.empty());
    return trace;
}

void Trace::erase(std::size_t number) {
    REQUIRE(number <= frames_.size());
    frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(number - 1));
}

void Trace::keep(std::size_t first, std::size_t last) {
    frames_ = {frames_.begin() + static_cast<std::ptrdiff_t>(first - 1),
               frames_.begin() + static_cast<std::ptrdiff_t>(std::min(last, frames_.size()))};
}

void Trace::keep_if(const std::function<bool(const protocol::Packet&)>& wanted) {
    std::erase_if(frames_, [&](const Frame& frame) {
        const auto packet = protocol::parse_frame(frame.bytes);
        return !packet || !wanted(*packet);
    });
}

void Trace::insert_copy(std::size_t of, std::size_t behind) {
    insert_duplicate(of, behind);
    const std::size_t copy = behind + 1;
    bytes(copy)[ip_at + 4] ^= std::byte{0x55};
    seal(copy);
}

void Trace::insert_duplicate(std::size_t of, std::size_t behind) {
    Frame frame = frames_.at(of - 1);
    frame.time = frames_.at(behind - 1).time;
    frames_.insert(frames_.begin() + static_cast<std::ptrdiff_t>(behind), std::move(frame));
}

void Trace::move_to(std::size_t number, std::chrono::nanoseconds since_start) {
    frames_.at(number - 1).time = since_start;
}

std::chrono::nanoseconds Trace::time(std::size_t number) const {
    return frames_.at(number - 1).time;
}

void Trace::set_opcode(std::size_t number, std::uint8_t opcode) {
    write(number, bth_at, opcode, 1);
}
void Trace::set_psn(std::size_t number, std::uint32_t psn) {
    write(number, psn_at, psn, 3);
}
void Trace::set_ack_request(std::size_t number, bool ack_request) {
    write(number, ack_request_at, ack_request ? 0x80 : 0, 1);
}
void Trace::set_syndrome(std::size_t number, std::uint8_t syndrome) {
    write(number, extended_at, syndrome, 1);
}
void Trace::set_msn(std::size_t number, std::uint32_t msn) {
    write(number, extended_at + 1, msn, 3);
}
void Trace::set_dma_length(std::size_t number, std::uint32_t dma_length) {
    write(number, extended_at + 12, dma_length, 4);
}
void Trace::set_original(std::size_t number, std::uint64_t original) {
    write(number, extended_at + 4, original, 8);
}

void Trace::damage(std::size_t number) {
    bytes(number).at(extended_at + 20) ^= std::byte{1};
}

void Trace::write(std::size_t number, std::size_t at, std::uint64_t value, std::size_t count) {
    std::vector<std::byte>& frame = bytes(number);
    for (std::size_t i = count; i-- > 0; value >>= 8)
        frame.at(at + i) = static_cast<std::byte>(value & 0xff);
    seal(number);
}

void Trace::seal(std::size_t number) {
    protocol::seal_icrc(bytes(number), ip_at);
}

tools::Report Trace::check(const tools::CheckOptions& options) const {
    tools::TraceChecker checker(options);
    std::uint64_t number = 0;
    for (const Frame& frame : frames_) {
        ++number;
        const auto packet = protocol::parse_frame(frame.bytes);
        if (packet) {
            checker.see(frame.time, *packet, number);
        } else {
            checker.see_other();
        }
    }
    return checker.finish();
}

std::string findings_of(const tools::Report& report) {
    std::string text;
    const auto add = [&](const std::vector<tools::Finding>& findings) {
        for (const tools::Finding& finding : findings) {
            text += finding.name(report.profile);
            for (const std::uint64_t frame : finding.frames)
                text += " " + std::to_string(frame);
            text += "\n";
        }
    };
    for (const tools::ConnectionReport& connection : report.connections)
        add(connection.findings);
    add(report.findings);
    return text;
}

}  // namespace rocem::test
