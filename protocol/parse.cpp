#include <algorithm>

#include "protocol/byte_cursor.hpp"
#include "protocol/packet.hpp"

namespace rocem::protocol {
namespace {

// A parser's place in a frame: how far it came, and where the current layer ends.
struct Cursor {
    std::span<const std::byte> frame;
    std::size_t at = 0;
    std::size_t end = 0;       // of the network layer on the wire; may lie behind the captured bytes
    std::size_t captured = 0;  // bytes at hand, at most end

    bool holds(std::size_t bytes) const { return bytes <= captured - at; }

    template <class Header>
    bool take(Header& header) {
        if (!holds(Header::size)) return false;
        header = Header::decode(frame.subspan(at).template first<Header::size>());
        at += Header::size;
        return true;
    }
};

using Result = tl::expected<void, DropReason>;

tl::unexpected<DropReason> refuse(DropReason reason) {
    return tl::unexpected(reason);
}

// Takes the extended headers in the order of the wire. Of a capture that was cut only whole ones are taken.
Result take_extended_headers(Cursor& cursor, Packet& packet) {
    RocePacket& roce = packet.roce;
    const OpcodeInfo& info = *roce.info;
    if (info.extended_header_bytes > cursor.end - cursor.at) return refuse(DropReason::short_headers);
    const std::size_t start = cursor.at;
    const auto take = [&cursor](bool has, auto& header) { return !has || cursor.take(header); };
    // Stops at the first that the capture does not hold.
    const bool complete = take(info.has_xrceth, roce.xrceth) && take(info.has_deth, roce.deth) &&
                          take(info.has_feth, roce.feth) && take(info.has_reth, roce.reth) &&
                          take(info.has_atomic_eth, roce.atomic_eth) && take(info.has_aeth, roce.aeth) &&
                          take(info.has_atomic_ack_eth, roce.atomic_ack_eth) &&
                          take(info.has_immdt, roce.immdt) && take(info.has_ieth, roce.ieth) &&
                          take(info.operation == Operation::cnp, roce.cnp);
    packet.transport_bytes_parsed = static_cast<std::uint8_t>(Bth::size + (cursor.at - start));
    if (!complete && !packet.truncated) return refuse(DropReason::truncated_frame);
    return {};
}

Result take_transport(Cursor& cursor, Packet& packet, std::size_t l3_offset) {
    RocePacket& roce = packet.roce;
    if (cursor.end - cursor.at < Bth::size + icrc_bytes) return refuse(DropReason::runt_transport);
    const std::size_t extended_at = cursor.at + Bth::size;
    if (!cursor.take(roce.bth)) return refuse(DropReason::truncated_frame);
    packet.transport_bytes_parsed = Bth::size;
    roce.info = opcode_info(roce.bth.opcode);
    if (roce.info == nullptr) return refuse(DropReason::unknown_opcode);
    cursor.end -= icrc_bytes;
    if (const Result taken = take_extended_headers(cursor, packet); !taken) return taken;

    const std::size_t payload_at = extended_at + roce.info->extended_header_bytes;
    if (cursor.end - payload_at < roce.bth.pad_count) return refuse(DropReason::pad_count);
    const std::size_t payload_end = cursor.end - roce.bth.pad_count;
    const auto captured_part = [&cursor](std::size_t from, std::size_t to) {
        const std::size_t last = std::min(to, cursor.captured);
        return from < last ? cursor.frame.subspan(from, last - from) : std::span<const std::byte>{};
    };
    roce.payload = captured_part(payload_at, payload_end);
    packet.pad = captured_part(payload_end, cursor.end);
    packet.icrc_present = cursor.end + icrc_bytes <= cursor.captured;
    if (packet.icrc_present) {
        std::copy_n(cursor.frame.begin() + static_cast<std::ptrdiff_t>(cursor.end), icrc_bytes,
                    packet.icrc.begin());
    }
    packet.l3 = captured_part(l3_offset, cursor.end + icrc_bytes);
    return {};
}

// Whether the bytes that stand where UDP begins go to the port of RoCE v2.
bool goes_to_roce_port(const Cursor& cursor, std::size_t udp_at) {
    constexpr std::size_t port_at = 2;
    if (cursor.frame.size() < udp_at + port_at + sizeof(std::uint16_t)) return false;
    return load_be<std::uint16_t>(&cursor.frame[udp_at + port_at]) == roce_v2_port;
}

Result take_udp(Cursor& cursor, Packet& packet, std::size_t l3_offset) {
    if (cursor.end - cursor.at < Udp::size) return refuse(DropReason::ip_length_mismatch);
    if (!cursor.take(packet.udp)) return refuse(DropReason::truncated_frame);
    return take_transport(cursor, packet, l3_offset);
}

// Where the network layer ends, by its own length field.
Result set_network_end(Cursor& cursor, Packet& packet, std::size_t end, std::size_t original_bytes) {
    if (end < cursor.at || end > original_bytes) return refuse(DropReason::ip_length_mismatch);
    cursor.end = end;
    cursor.captured = std::min(end, cursor.frame.size());
    packet.truncated = cursor.captured < end;
    if (end < cursor.frame.size()) packet.trailer = cursor.frame.subspan(end);
    return {};
}

Result take_ipv4(Cursor& cursor, Packet& packet, std::size_t original_bytes) {
    const std::size_t l3_offset = cursor.at;
    if (!cursor.take(packet.ipv4)) return refuse(DropReason::truncated_frame);
    packet.has_ipv4 = true;
    const Ipv4& ip = packet.ipv4;
    if (ip.version != 4) return refuse(DropReason::bad_ip_version);
    const bool is_udp = ip.protocol == ip_protocol_udp;
    if (is_udp && ip.fragment_offset == 0 && goes_to_roce_port(cursor, l3_offset + ip.ihl * 4u))
        packet.kind = FrameKind::roce_v2;
    if (const Result set = set_network_end(cursor, packet, l3_offset + ip.total_length, original_bytes); !set)
        return set;
    // A later fragment has no port: it may be RoCE, so it must not pass as something else.
    if (is_udp && ip.fragment_offset != 0) return refuse(DropReason::ip_fragment);
    if (packet.kind == FrameKind::roce_v2) {
        if (ip.ihl != 5) return refuse(DropReason::ipv4_options);
        return take_udp(cursor, packet, l3_offset);
    }
    if (ip.protocol == ip_protocol_icmp && ip.ihl == 5 && ip.fragment_offset == 0 && !ip.more_fragments)
        packet.kind = FrameKind::icmp;
    return {};
}

Result take_ipv6(Cursor& cursor, Packet& packet, std::size_t original_bytes, bool is_grh) {
    const std::size_t l3_offset = cursor.at;
    if (is_grh) packet.kind = FrameKind::roce_v1;
    if (!cursor.take(packet.ipv6)) return refuse(DropReason::truncated_frame);
    packet.has_ipv6 = true;
    const Ipv6& ip = packet.ipv6;
    if (ip.version != 6) return refuse(DropReason::bad_ip_version);
    if (is_grh && ip.next_header != grh_next_header_ib) {
        packet.kind = FrameKind::other;
        is_grh = false;
    } else if (ip.next_header == ip_protocol_udp && goes_to_roce_port(cursor, cursor.at)) {
        packet.kind = FrameKind::roce_v2;
    } else if (ip.next_header == ip_protocol_icmpv6) {
        packet.kind = FrameKind::icmpv6;
    }
    const std::size_t end = cursor.at + ip.payload_length;
    if (const Result set = set_network_end(cursor, packet, end, original_bytes); !set) return set;
    if (packet.kind == FrameKind::roce_v1) return take_transport(cursor, packet, l3_offset);
    if (packet.kind == FrameKind::roce_v2) return take_udp(cursor, packet, l3_offset);
    return {};
}

}  // namespace

tl::expected<void, DropReason> parse_frame_into(Packet& packet, std::span<const std::byte> frame,
                                                std::size_t original_bytes) {
    original_bytes = std::max(original_bytes, frame.size());
    packet.frame = frame;
    packet.truncated = frame.size() < original_bytes;
    Cursor cursor{frame, 0, original_bytes, frame.size()};
    if (!cursor.take(packet.ethernet)) return refuse(DropReason::truncated_frame);
    std::uint16_t ether_type = packet.ethernet.ether_type;
    while (is_vlan_tag(ether_type) && packet.vlan_count < packet.vlans.size()) {
        Vlan& tag = packet.vlans[packet.vlan_count];
        if (!cursor.take(tag)) return refuse(DropReason::truncated_frame);
        ++packet.vlan_count;
        ether_type = tag.ether_type;
    }
    Result taken;
    switch (ether_type) {
        case ether_type_ipv4:
            taken = take_ipv4(cursor, packet, original_bytes);
            break;
        case ether_type_ipv6:
            taken = take_ipv6(cursor, packet, original_bytes, false);
            break;
        case ether_type_roce_v1:
            taken = take_ipv6(cursor, packet, original_bytes, true);
            break;
        case ether_type_arp:
            packet.kind = FrameKind::arp;
            break;
        default:
            break;
    }
    if (!packet.is_roce()) packet.body = frame.subspan(cursor.at, cursor.captured - cursor.at);
    return taken;
}

tl::expected<Packet, DropReason> parse_frame(std::span<const std::byte> frame, std::size_t original_bytes) {
    tl::expected<Packet, DropReason> result;  // the only object returned: built in place
    if (const auto parsed = parse_frame_into(*result, frame, original_bytes); !parsed)
        result = tl::unexpected(parsed.error());
    return result;
}

Gid source_gid(const Packet& packet) {
    return packet.has_ipv4 ? Gid::from_ipv4(packet.ipv4.source) : Gid::from_ipv6(packet.ipv6.source);
}

Gid destination_gid(const Packet& packet) {
    return packet.has_ipv4 ? Gid::from_ipv4(packet.ipv4.destination)
                           : Gid::from_ipv6(packet.ipv6.destination);
}

std::uint8_t traffic_class(const Packet& packet) {
    return packet.has_ipv4 ? packet.ipv4.tos : packet.ipv6.traffic_class;
}

std::size_t network_payload_bytes(const Packet& packet) {
    return packet.has_ipv4 ? packet.ipv4.total_length - Ipv4::size : packet.ipv6.payload_length;
}

std::size_t wire_payload_bytes(const Packet& packet) {
    return network_payload_bytes(packet) - (packet.kind == FrameKind::roce_v2 ? Udp::size : 0) - Bth::size -
           packet.roce.info->extended_header_bytes - packet.roce.bth.pad_count - icrc_bytes;
}

}  // namespace rocem::protocol
