#include "daemon/nic/neighbour_frames.hpp"

#include <array>

#include "protocol/byte_cursor.hpp"
#include "protocol/checksum.hpp"
#include "protocol/ethernet.hpp"
#include "protocol/icmp.hpp"
#include "protocol/ipv4.hpp"
#include "protocol/ipv6.hpp"

namespace rocem::daemon {
namespace {

constexpr std::size_t icmp_checksum_offset = 2;

template <class Header>
void append(std::vector<std::byte>& frame, const Header& header) {
    std::array<std::byte, Header::size> bytes;
    header.encode(bytes);
    frame.insert(frame.end(), bytes.begin(), bytes.end());
}

void append_ethernet(std::vector<std::byte>& frame, const protocol::MacAddress& source,
                     const protocol::MacAddress& destination, std::uint16_t ether_type) {
    append(frame, protocol::Ethernet{destination, source, ether_type});
}

void seal_checksum(std::span<std::byte> message, std::uint32_t pseudo_header) {
    protocol::store_be(&message[icmp_checksum_offset], std::uint16_t{0});
    protocol::store_be(&message[icmp_checksum_offset],
                       protocol::checksum_finish(protocol::checksum_add(pseudo_header, message)));
}

}  // namespace

std::vector<std::byte> arp_frame(const protocol::MacAddress& source, const protocol::MacAddress& destination,
                                 const protocol::Arp& arp) {
    std::vector<std::byte> frame;
    append_ethernet(frame, source, destination, protocol::ether_type_arp);
    append(frame, arp);
    return frame;
}

std::vector<std::byte> ndp_frame(const protocol::MacAddress& source_mac,
                                 const protocol::MacAddress& destination_mac,
                                 const protocol::Ipv6Address& source,
                                 const protocol::Ipv6Address& destination, const protocol::Ndp& ndp) {
    std::array<std::byte, protocol::Ndp::size_with_option> message{};
    const std::size_t length = ndp.encode(message);
    const auto payload_length = static_cast<std::uint16_t>(length);
    seal_checksum(
        std::span(message).first(length),
        protocol::pseudo_header_sum(source, destination, protocol::ip_protocol_icmpv6, payload_length));
    protocol::Ipv6 ip;
    ip.payload_length = payload_length;
    ip.next_header = protocol::ip_protocol_icmpv6;
    ip.hop_limit = 255;
    ip.source = source;
    ip.destination = destination;
    std::vector<std::byte> frame;
    append_ethernet(frame, source_mac, destination_mac, protocol::ether_type_ipv6);
    append(frame, ip);
    frame.insert(frame.end(), message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
    return frame;
}

std::vector<std::byte> echo_reply_v4(const protocol::MacAddress& source, const protocol::Packet& request) {
    std::vector<std::byte> message(request.body.begin(), request.body.end());
    message[0] = std::byte{protocol::Icmp::v4_echo_reply};
    seal_checksum(message, 0);
    protocol::Ipv4 ip;
    ip.total_length = static_cast<std::uint16_t>(protocol::Ipv4::size + message.size());
    ip.identification = request.ipv4.identification;
    ip.protocol = protocol::ip_protocol_icmp;
    ip.source = request.ipv4.destination;
    ip.destination = request.ipv4.source;
    ip.header_checksum = ip.computed_checksum();
    std::vector<std::byte> frame;
    append_ethernet(frame, source, request.ethernet.source, protocol::ether_type_ipv4);
    append(frame, ip);
    frame.insert(frame.end(), message.begin(), message.end());
    return frame;
}

std::vector<std::byte> echo_reply_v6(const protocol::MacAddress& source, const protocol::Packet& request) {
    std::vector<std::byte> message(request.body.begin(), request.body.end());
    message[0] = std::byte{protocol::Icmp::v6_echo_reply};
    protocol::Ipv6 ip;
    ip.payload_length = static_cast<std::uint16_t>(message.size());
    ip.next_header = protocol::ip_protocol_icmpv6;
    ip.source = request.ipv6.destination;
    ip.destination = request.ipv6.source;
    seal_checksum(message, protocol::pseudo_header_sum(ip.source, ip.destination,
                                                       protocol::ip_protocol_icmpv6, ip.payload_length));
    std::vector<std::byte> frame;
    append_ethernet(frame, source, request.ethernet.source, protocol::ether_type_ipv6);
    append(frame, ip);
    frame.insert(frame.end(), message.begin(), message.end());
    return frame;
}

}  // namespace rocem::daemon
