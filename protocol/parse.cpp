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

Result take_extended_headers(Cursor& cursor, RocePacket& roce) {
    const OpcodeInfo& info = *roce.info;
    if (info.extended_header_bytes > cursor.end - cursor.at) return refuse(DropReason::short_headers);
    if (!cursor.holds(info.extended_header_bytes)) return refuse(DropReason::truncated_frame);
    // Room was checked once for all of them: no take can fail.
    if (info.has_xrceth) cursor.take(roce.xrceth);
    if (info.has_deth) cursor.take(roce.deth);
    if (info.has_feth) cursor.take(roce.feth);
    if (info.has_reth) cursor.take(roce.reth);
    if (info.has_atomic_eth) cursor.take(roce.atomic_eth);
    if (info.has_aeth) cursor.take(roce.aeth);
    if (info.has_atomic_ack_eth) cursor.take(roce.atomic_ack_eth);
    if (info.has_immdt) cursor.take(roce.immdt);
    if (info.has_ieth) cursor.take(roce.ieth);
    if (info.operation == Operation::cnp) cursor.take(roce.cnp);
    return {};
}

Result take_transport(Cursor& cursor, Packet& packet, std::size_t l3_offset) {
    RocePacket& roce = packet.roce;
    if (cursor.end - cursor.at < Bth::size + icrc_bytes) return refuse(DropReason::runt_transport);
    if (!cursor.take(roce.bth)) return refuse(DropReason::truncated_frame);
    roce.info = opcode_info(roce.bth.opcode);
    if (roce.info == nullptr) return refuse(DropReason::unknown_opcode);
    cursor.end -= icrc_bytes;
    if (const Result taken = take_extended_headers(cursor, roce); !taken) return taken;

    const std::size_t rest = cursor.end - cursor.at;
    if (rest < roce.bth.pad_count) return refuse(DropReason::short_headers);
    const std::size_t payload_end = cursor.end - roce.bth.pad_count;
    const auto captured_part = [&cursor](std::size_t from, std::size_t to) {
        const std::size_t last = std::min(to, cursor.captured);
        return from < last ? cursor.frame.subspan(from, last - from) : std::span<const std::byte>{};
    };
    roce.payload = captured_part(cursor.at, payload_end);
    packet.pad = captured_part(payload_end, cursor.end);
    packet.icrc_present = cursor.end + icrc_bytes <= cursor.captured;
    if (packet.icrc_present) {
        std::copy_n(cursor.frame.begin() + static_cast<std::ptrdiff_t>(cursor.end), icrc_bytes,
                    packet.icrc.begin());
    }
    packet.l3 = captured_part(l3_offset, cursor.end + icrc_bytes);
    return {};
}

Result take_udp(Cursor& cursor, Packet& packet, std::size_t l3_offset) {
    if (cursor.end - cursor.at < Udp::size) return refuse(DropReason::ip_length_mismatch);
    if (!cursor.holds(Udp::size)) return refuse(DropReason::truncated_frame);
    const Udp udp = Udp::decode(cursor.frame.subspan(cursor.at).first<Udp::size>());
    if (udp.destination_port != roce_v2_port) return {};
    if (udp.length != cursor.end - cursor.at) return refuse(DropReason::udp_length_mismatch);
    packet.udp = udp;
    packet.kind = FrameKind::roce_v2;
    cursor.at += Udp::size;
    return take_transport(cursor, packet, l3_offset);
}

// Where the network layer ends, by its own length field.
Result set_network_end(Cursor& cursor, Packet& packet, std::size_t end, std::size_t original_bytes) {
    if (end > original_bytes) return refuse(DropReason::ip_length_mismatch);
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
    if (ip.total_length < Ipv4::size) return refuse(DropReason::ip_length_mismatch);
    if (const Result set = set_network_end(cursor, packet, l3_offset + ip.total_length, original_bytes); !set)
        return set;
    if (ip.protocol == ip_protocol_udp) {
        // Behind options or inside a later fragment no UDP header stands where RoCE has it.
        if (ip.ihl != 5) return refuse(DropReason::ipv4_options);
        if (ip.fragment_offset != 0) return refuse(DropReason::ip_fragment);
        return take_udp(cursor, packet, l3_offset);
    }
    if (ip.protocol == ip_protocol_icmp && ip.ihl == 5) packet.kind = FrameKind::icmp;
    return {};
}

Result take_ipv6(Cursor& cursor, Packet& packet, std::size_t original_bytes, bool is_grh) {
    const std::size_t l3_offset = cursor.at;
    if (!cursor.take(packet.ipv6)) return refuse(DropReason::truncated_frame);
    packet.has_ipv6 = true;
    const Ipv6& ip = packet.ipv6;
    if (ip.version != 6) return refuse(DropReason::bad_ip_version);
    const std::size_t end = cursor.at + ip.payload_length;
    if (const Result set = set_network_end(cursor, packet, end, original_bytes); !set) return set;
    if (is_grh) {
        if (ip.next_header != grh_next_header_ib) return {};
        packet.kind = FrameKind::roce_v1;
        return take_transport(cursor, packet, l3_offset);
    }
    if (ip.next_header == ip_protocol_icmpv6) packet.kind = FrameKind::icmpv6;
    if (ip.next_header == ip_protocol_udp) return take_udp(cursor, packet, l3_offset);
    return {};
}

}  // namespace

tl::expected<Packet, DropReason> parse_frame(std::span<const std::byte> frame, std::size_t original_bytes) {
    original_bytes = std::max(original_bytes, frame.size());
    tl::expected<Packet, DropReason> result;
    Packet& packet = *result;
    packet.frame = frame;
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
    if (!taken) return refuse(taken.error());
    if (!packet.is_roce()) packet.body = frame.subspan(cursor.at, cursor.captured - cursor.at);
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

}  // namespace rocem::protocol
