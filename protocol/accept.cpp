#include <algorithm>

#include "protocol/checksum.hpp"
#include "protocol/packet.hpp"

namespace rocem::protocol {
namespace {

bool is_joined_group(const Gid& gid, const ReceiveContext& context) {
    return std::find(context.multicast_groups.begin(), context.multicast_groups.end(), gid) !=
           context.multicast_groups.end();
}

bool mac_is_ours(const Packet& packet, const ReceiveContext& context) {
    const MacAddress& mac = packet.ethernet.destination;
    if (mac == context.mac) return true;
    const Gid gid = destination_gid(packet);
    return mac.is_multicast() && is_joined_group(gid, context) && mac == multicast_mac(gid);
}

bool gid_is_ours(const Packet& packet, const ReceiveContext& context) {
    const Gid gid = destination_gid(packet);
    if (gid.is_zero()) return false;
    return std::find(context.gids.begin(), context.gids.end(), gid) != context.gids.end() ||
           is_joined_group(gid, context);
}

bool pad_is_legal(const RocePacket& roce) {
    if (roce.bth.pad_count == 0) return true;
    // A padded packet ends its message, and its payload is what the pad completes.
    return roce.info->ends_message() && (roce.payload.size() + roce.bth.pad_count) % 4 == 0 &&
           !roce.payload.empty();
}

// Steps 0 to 3 and 8 of rocev2 5.7, in their order.
Verdict check_headers(const Packet& packet, const ReceiveContext& context) {
    const auto refuse = [](DropReason reason) { return Verdict{false, reason}; };
    const RocePacket& roce = packet.roce;
    if (!packet.is_roce()) return refuse(DropReason::not_roce);
    if (!mac_is_ours(packet, context)) return refuse(DropReason::destination_mac);
    if (packet.has_ipv4) {
        if (!Ipv4::checksum_is_right(packet.l3.first(Ipv4::size)))
            return refuse(DropReason::ipv4_header_checksum);
        if (packet.ipv4.more_fragments) return refuse(DropReason::ip_fragment);
    }
    if (packet.truncated) return refuse(DropReason::truncated_frame);
    if (packet.kind == FrameKind::roce_v2 && packet.udp.length != network_payload_bytes(packet))
        return refuse(DropReason::udp_length_mismatch);
    if (packet.kind == FrameKind::roce_v2 && packet.udp.checksum != 0 && !context.ignore_udp_checksum &&
        !udp_checksum_is_right(packet)) {
        return refuse(DropReason::udp_checksum);
    }
    if (roce.bth.t_ver != 0) return refuse(DropReason::transport_version);
    if (!pad_is_legal(roce)) return refuse(DropReason::pad_count);
    if (roce.payload.size() > payload_bytes_max) return refuse(DropReason::payload_too_long);
    if (roce.bth.dest_qp == Qpn(0)) return refuse(DropReason::zero_destination_qp);
    if (roce.bth.dest_qp == multicast_qpn && roce.info->service != Service::ud) {
        return refuse(DropReason::multicast_service);
    }
    if (!gid_is_ours(packet, context)) return refuse(DropReason::destination_gid);
    return {};
}

}  // namespace

bool udp_checksum_is_right(const Packet& packet) {
    const std::size_t ip = packet.has_ipv4 ? Ipv4::size : Ipv6::size;
    const auto length = static_cast<std::uint32_t>(packet.l3.size() - ip);
    const std::uint32_t pseudo =
        packet.has_ipv4
            ? pseudo_header_sum(packet.ipv4.source, packet.ipv4.destination, ip_protocol_udp, length)
            : pseudo_header_sum(packet.ipv6.source, packet.ipv6.destination, ip_protocol_udp, length);
    return checksum_finish(checksum_add(pseudo, packet.l3.subspan(ip))) == 0;
}

Verdict accept(const Packet& packet, const ReceiveContext& context) {
    const Verdict headers = check_headers(packet, context);
    if (!headers.accepted) return headers;
    if (!icrc_is_right(packet.l3)) return {false, DropReason::icrc_mismatch};
    return {};
}

MacAddress multicast_mac(const Gid& group) {
    const auto& b = group.bytes;
    if (group.is_ipv4_mapped())
        return {{0x01, 0x00, 0x5e, static_cast<std::uint8_t>(b[13] & 0x7f), b[14], b[15]}};
    return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
}

}  // namespace rocem::protocol
