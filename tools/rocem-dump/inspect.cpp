#include "tools/rocem-dump/inspect.hpp"

#include <fmt/format.h>

#include "protocol/print.hpp"

namespace rocem::tools {
namespace {

using protocol::DropReason;
using protocol::Packet;

void check_icrc(Inspection& inspection) {
    const Packet& packet = inspection.packet;
    if (!packet.is_roce()) return;
    inspection.icrc = IcrcVerdict::not_checked;
    if (inspection.refused || !packet.icrc_present) return;
    inspection.computed_icrc = protocol::icrc_of(packet.l3.first(packet.l3.size() - protocol::icrc_bytes));
    inspection.icrc = protocol::icrc_is_right(packet.l3) ? IcrcVerdict::ok : IcrcVerdict::bad;
}

void check_checksums(Inspection& inspection) {
    const Packet& packet = inspection.packet;
    if (!packet.is_roce() || inspection.refused) return;
    if (packet.has_ipv4)
        inspection.ipv4_checksum_right =
            protocol::Ipv4::checksum_is_right(packet.l3.first(protocol::Ipv4::size));
    if (packet.kind == protocol::FrameKind::roce_v2 && packet.udp.checksum != 0 && !packet.truncated)
        inspection.udp_checksum_right = protocol::udp_checksum_is_right(packet);
}

bool has_wrong_udp_length(const Inspection& inspection) {
    const Packet& packet = inspection.packet;
    return packet.kind == protocol::FrameKind::roce_v2 && !inspection.refused &&
           packet.udp.length != protocol::network_payload_bytes(packet);
}

std::string icrc_words(const Inspection& inspection) {
    switch (inspection.icrc) {
        case IcrcVerdict::none:
            break;
        case IcrcVerdict::ok:
            return " ICRC ok";
        case IcrcVerdict::bad:
            return fmt::format(" ICRC BAD ({}, computed {})", icrc_on_the_wire(inspection.packet),
                               icrc_on_the_wire(inspection.computed_icrc));
        case IcrcVerdict::not_checked:
            return inspection.cut_by_capture ? " ICRC not checked (truncated)" : " ICRC not checked";
    }
    return "";
}

}  // namespace

std::string_view icrc_verdict_word(IcrcVerdict verdict) {
    switch (verdict) {
        case IcrcVerdict::none:
            return "none";
        case IcrcVerdict::ok:
            return "ok";
        case IcrcVerdict::bad:
            return "bad";
        case IcrcVerdict::not_checked:
            return "not checked";
    }
    return "";
}

Inspection inspect(const CapturedFrame& frame) {
    Inspection inspection;
    const auto parsed = protocol::parse_frame_into(inspection.packet, frame.bytes, frame.original_bytes);
    inspection.cut_by_capture = frame.truncated();
    if (!parsed) inspection.refused = parsed.error();
    check_icrc(inspection);
    check_checksums(inspection);
    return inspection;
}

std::string icrc_on_the_wire(std::uint32_t icrc) {
    return fmt::format("{:02x}{:02x}{:02x}{:02x}", icrc & 0xff, icrc >> 8 & 0xff, icrc >> 16 & 0xff,
                       icrc >> 24);
}

std::string icrc_on_the_wire(const Packet& packet) {
    std::string text;
    for (const std::byte byte : packet.icrc)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

std::string describe(const Inspection& inspection) {
    std::string line = protocol::print(inspection.packet);
    if (inspection.refused) {
        // A header that the capture cut off is nothing wrong with the frame.
        const bool only_cut = inspection.cut_by_capture && *inspection.refused == DropReason::truncated_frame;
        if (!only_cut)
            line += fmt::format(" (malformed: {})", protocol::drop_reason_sentence(*inspection.refused));
    }
    if (inspection.ipv4_checksum_right == false) line += " IPv4 checksum BAD";
    if (has_wrong_udp_length(inspection)) line += " UDP length BAD";
    if (inspection.udp_checksum_right == false) line += " UDP checksum BAD";
    return line + icrc_words(inspection);
}

}  // namespace rocem::tools
