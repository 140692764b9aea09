#include "protocol/frame_template.hpp"

#include <cstring>

#include "protocol/byte_cursor.hpp"
#include "protocol/checksum.hpp"
#include "protocol/ipv4.hpp"
#include "protocol/ipv6.hpp"
#include "protocol/udp.hpp"

namespace rocem::protocol {
namespace {

constexpr std::uint8_t default_hop_limit = 64;

template <class Header>
std::size_t put(FrameTemplate& frame_template, std::size_t at, const Header& header) {
    header.encode(std::span<std::byte>(frame_template.bytes).subspan(at).template first<Header::size>());
    return at + Header::size;
}

}  // namespace

FrameTemplate build_template(const PathHeaders& path) {
    FrameTemplate result;
    const bool is_ipv4 = !path.roce_v1 && path.destination_gid.is_ipv4_mapped();
    const std::uint16_t network_type = path.roce_v1 ? ether_type_roce_v1
                                       : is_ipv4    ? ether_type_ipv4
                                                    : ether_type_ipv6;
    const std::uint8_t hop_limit = path.hop_limit == 0 ? default_hop_limit : path.hop_limit;

    Ethernet ethernet{path.destination_mac, path.source_mac, path.vlan ? ether_type_vlan : network_type};
    std::size_t at = put(result, 0, ethernet);
    if (path.vlan) {
        Vlan tag = *path.vlan;
        tag.ether_type = network_type;
        at = put(result, at, tag);
    }
    result.l3_offset = static_cast<std::uint8_t>(at);
    result.is_ipv4 = is_ipv4;
    if (is_ipv4) {
        Ipv4 ip;
        ip.tos = path.traffic_class;
        ip.dont_fragment = true;
        ip.ttl = hop_limit;
        ip.source = path.source_gid.as_ipv4();
        ip.destination = path.destination_gid.as_ipv4();
        at = put(result, at, ip);
        result.ipv4_sum = checksum_add(0, std::span(result.bytes).subspan(result.l3_offset, Ipv4::size));
    } else {
        Ipv6 ip;
        ip.traffic_class = path.traffic_class;
        ip.flow_label = path.flow_label;
        ip.next_header = path.roce_v1 ? grh_next_header_ib : ip_protocol_udp;
        ip.hop_limit = hop_limit;
        ip.source = path.source_gid.as_ipv6();
        ip.destination = path.destination_gid.as_ipv6();
        at = put(result, at, ip);
    }
    if (!path.roce_v1) {
        result.udp_offset = static_cast<std::uint8_t>(at);
        Udp udp;
        udp.source_port = path.udp_source_port;
        at = put(result, at, udp);
    }
    result.size = static_cast<std::uint8_t>(at);
    return result;
}

void set_destination_mac(FrameTemplate& frame_template, const MacAddress& mac) {
    std::memcpy(frame_template.bytes.data(), mac.bytes.data(), mac.bytes.size());
}

std::size_t write_headers(const FrameTemplate& frame_template, std::span<std::byte> out,
                          std::size_t transport_bytes, std::uint16_t ipv4_identification) {
    std::memcpy(out.data(), frame_template.bytes.data(), frame_template.size);
    const bool has_udp = frame_template.udp_offset != 0;
    const auto udp_length = static_cast<std::uint16_t>(transport_bytes + (has_udp ? Udp::size : 0));
    std::byte* ip = &out[frame_template.l3_offset];
    if (frame_template.is_ipv4) {
        const auto total_length = static_cast<std::uint16_t>(udp_length + Ipv4::size);
        store_be(ip + 2, total_length);
        store_be(ip + 4, ipv4_identification);
        store_be(ip + 10, checksum_finish(frame_template.ipv4_sum + total_length + ipv4_identification));
    } else {
        store_be(ip + 4, udp_length);
    }
    if (has_udp) store_be(&out[frame_template.udp_offset + 4u], udp_length);
    return frame_template.size;
}

}  // namespace rocem::protocol
