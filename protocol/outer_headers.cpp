#include <cstring>

#include "protocol/arp.hpp"
#include "protocol/byte_cursor.hpp"
#include "protocol/checksum.hpp"
#include "protocol/ethernet.hpp"
#include "protocol/icmp.hpp"
#include "protocol/ipv4.hpp"
#include "protocol/ipv6.hpp"
#include "protocol/ndp.hpp"
#include "protocol/udp.hpp"

namespace rocem::protocol {
namespace {

template <std::size_t N>
void load_bytes(std::array<std::uint8_t, N>& to, const std::byte* from) {
    std::memcpy(to.data(), from, N);
}

template <std::size_t N>
void store_bytes(std::byte* to, const std::array<std::uint8_t, N>& from) {
    std::memcpy(to, from.data(), N);
}

constexpr std::uint8_t ndp_source_option = 1;
constexpr std::uint8_t ndp_target_option = 2;

}  // namespace

Ethernet Ethernet::decode(std::span<const std::byte, size> bytes) {
    Ethernet header;
    load_bytes(header.destination.bytes, &bytes[0]);
    load_bytes(header.source.bytes, &bytes[6]);
    header.ether_type = load_be<std::uint16_t>(&bytes[12]);
    return header;
}

void Ethernet::encode(std::span<std::byte, size> bytes) const {
    store_bytes(&bytes[0], destination.bytes);
    store_bytes(&bytes[6], source.bytes);
    store_be(&bytes[12], ether_type);
}

Vlan Vlan::decode(std::span<const std::byte, size> bytes) {
    const auto tci = load_be<std::uint16_t>(&bytes[0]);
    Vlan tag;
    tag.pcp = static_cast<std::uint8_t>(tci >> 13);
    tag.dei = (tci & 0x1000) != 0;
    tag.vid = static_cast<std::uint16_t>(tci & 0x0fff);
    tag.ether_type = load_be<std::uint16_t>(&bytes[2]);
    return tag;
}

void Vlan::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], static_cast<std::uint16_t>((pcp & 7) << 13 | (dei ? 0x1000 : 0) | (vid & 0x0fff)));
    store_be(&bytes[2], ether_type);
}

Ipv4 Ipv4::decode(std::span<const std::byte, size> bytes) {
    const auto first = std::to_integer<unsigned>(bytes[0]);
    const auto fragment = load_be<std::uint16_t>(&bytes[6]);
    Ipv4 header;
    header.version = static_cast<std::uint8_t>(first >> 4);
    header.ihl = static_cast<std::uint8_t>(first & 0x0f);
    header.tos = std::to_integer<std::uint8_t>(bytes[1]);
    header.total_length = load_be<std::uint16_t>(&bytes[2]);
    header.identification = load_be<std::uint16_t>(&bytes[4]);
    header.reserved_flag = (fragment & 0x8000) != 0;
    header.dont_fragment = (fragment & 0x4000) != 0;
    header.more_fragments = (fragment & 0x2000) != 0;
    header.fragment_offset = static_cast<std::uint16_t>(fragment & 0x1fff);
    header.ttl = std::to_integer<std::uint8_t>(bytes[8]);
    header.protocol = std::to_integer<std::uint8_t>(bytes[9]);
    header.header_checksum = load_be<std::uint16_t>(&bytes[10]);
    load_bytes(header.source.bytes, &bytes[12]);
    load_bytes(header.destination.bytes, &bytes[16]);
    return header;
}

void Ipv4::encode(std::span<std::byte, size> bytes) const {
    bytes[0] = static_cast<std::byte>((version & 0x0f) << 4 | (ihl & 0x0f));
    bytes[1] = std::byte{tos};
    store_be(&bytes[2], total_length);
    store_be(&bytes[4], identification);
    store_be(&bytes[6],
             static_cast<std::uint16_t>((reserved_flag ? 0x8000 : 0) | (dont_fragment ? 0x4000 : 0) |
                                        (more_fragments ? 0x2000 : 0) | (fragment_offset & 0x1fff)));
    bytes[8] = std::byte{ttl};
    bytes[9] = std::byte{protocol};
    store_be(&bytes[10], header_checksum);
    store_bytes(&bytes[12], source.bytes);
    store_bytes(&bytes[16], destination.bytes);
}

std::uint16_t Ipv4::computed_checksum() const {
    Ipv4 copy = *this;
    copy.header_checksum = 0;
    std::array<std::byte, size> bytes;
    copy.encode(bytes);
    return checksum_finish(checksum_add(0, bytes));
}

bool Ipv4::checksum_is_right(std::span<const std::byte> header) {
    return checksum_finish(checksum_add(0, header)) == 0;
}

Ipv6 Ipv6::decode(std::span<const std::byte, size> bytes) {
    const auto first = load_be<std::uint32_t>(&bytes[0]);
    Ipv6 header;
    header.version = static_cast<std::uint8_t>(first >> 28);
    header.traffic_class = static_cast<std::uint8_t>(first >> 20);
    header.flow_label = first & 0xfffff;
    header.payload_length = load_be<std::uint16_t>(&bytes[4]);
    header.next_header = std::to_integer<std::uint8_t>(bytes[6]);
    header.hop_limit = std::to_integer<std::uint8_t>(bytes[7]);
    load_bytes(header.source.bytes, &bytes[8]);
    load_bytes(header.destination.bytes, &bytes[24]);
    return header;
}

void Ipv6::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0],
             (version & 0x0fu) << 28 | std::uint32_t{traffic_class} << 20 | (flow_label & 0xfffff));
    store_be(&bytes[4], payload_length);
    bytes[6] = std::byte{next_header};
    bytes[7] = std::byte{hop_limit};
    store_bytes(&bytes[8], source.bytes);
    store_bytes(&bytes[24], destination.bytes);
}

Udp Udp::decode(std::span<const std::byte, size> bytes) {
    Udp header;
    header.source_port = load_be<std::uint16_t>(&bytes[0]);
    header.destination_port = load_be<std::uint16_t>(&bytes[2]);
    header.length = load_be<std::uint16_t>(&bytes[4]);
    header.checksum = load_be<std::uint16_t>(&bytes[6]);
    return header;
}

void Udp::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], source_port);
    store_be(&bytes[2], destination_port);
    store_be(&bytes[4], length);
    store_be(&bytes[6], checksum);
}

std::uint16_t udp_source_port(std::uint32_t flow_label) {
    const std::uint32_t low = flow_label & 0x03fff;
    const std::uint32_t high = flow_label & 0xfc000;
    return static_cast<std::uint16_t>((low ^ high >> 14) | 0xc000);
}

std::uint32_t flow_label_of(Qpn local, Qpn remote) {
    std::uint64_t value = std::uint64_t{local.value()} * remote.value();
    value ^= value >> 20;
    value ^= value >> 40;
    return static_cast<std::uint32_t>(value & 0xfffff);
}

std::optional<Arp> Arp::decode(std::span<const std::byte, size> bytes) {
    constexpr std::uint64_t ethernet_ipv4 = 0x0001'0800'0604;
    const std::uint64_t types =
        std::uint64_t{load_be<std::uint32_t>(&bytes[0])} << 16 | load_be<std::uint16_t>(&bytes[4]);
    if (types != ethernet_ipv4) return std::nullopt;
    Arp arp;
    arp.operation = load_be<std::uint16_t>(&bytes[6]);
    load_bytes(arp.sender_mac.bytes, &bytes[8]);
    load_bytes(arp.sender_ip.bytes, &bytes[14]);
    load_bytes(arp.target_mac.bytes, &bytes[18]);
    load_bytes(arp.target_ip.bytes, &bytes[24]);
    return arp;
}

void Arp::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], std::uint16_t{1});  // Ethernet
    store_be(&bytes[2], ether_type_ipv4);
    bytes[4] = std::byte{6};
    bytes[5] = std::byte{4};
    store_be(&bytes[6], operation);
    store_bytes(&bytes[8], sender_mac.bytes);
    store_bytes(&bytes[14], sender_ip.bytes);
    store_bytes(&bytes[18], target_mac.bytes);
    store_bytes(&bytes[24], target_ip.bytes);
}

Icmp Icmp::decode(std::span<const std::byte, size> bytes) {
    Icmp header;
    header.type = std::to_integer<std::uint8_t>(bytes[0]);
    header.code = std::to_integer<std::uint8_t>(bytes[1]);
    header.checksum = load_be<std::uint16_t>(&bytes[2]);
    header.rest = load_be<std::uint32_t>(&bytes[4]);
    return header;
}

void Icmp::encode(std::span<std::byte, size> bytes) const {
    bytes[0] = std::byte{type};
    bytes[1] = std::byte{code};
    store_be(&bytes[2], checksum);
    store_be(&bytes[4], rest);
}

std::optional<Ndp> Ndp::decode(std::span<const std::byte> message) {
    if (message.size() < size) return std::nullopt;
    const auto type = std::to_integer<std::uint8_t>(message[0]);
    if (message[1] != std::byte{0}) return std::nullopt;
    if (type != Icmp::v6_neighbor_solicitation && type != Icmp::v6_neighbor_advertisement)
        return std::nullopt;
    const auto flags = std::to_integer<unsigned>(message[4]);
    Ndp ndp;
    ndp.kind = static_cast<Kind>(type);
    ndp.checksum = load_be<std::uint16_t>(&message[2]);
    if (ndp.kind == Kind::advertisement) {
        ndp.router = (flags & 0x80) != 0;
        ndp.solicited = (flags & 0x40) != 0;
        ndp.override_flag = (flags & 0x20) != 0;
    }
    load_bytes(ndp.target.bytes, &message[8]);
    const std::uint8_t wanted = ndp.kind == Kind::solicitation ? ndp_source_option : ndp_target_option;
    for (std::size_t at = size; at < message.size();) {
        // RFC 4861 4.6: an option's length counts 8 bytes; a length of 0 makes the whole message invalid.
        if (at + 2 > message.size()) return std::nullopt;
        const std::size_t length = std::to_integer<std::size_t>(message[at + 1]) * 8;
        if (length == 0 || length > message.size() - at) return std::nullopt;
        if (std::to_integer<std::uint8_t>(message[at]) == wanted && length == 8) {
            load_bytes(ndp.link_layer_address.emplace().bytes, &message[at + 2]);
        }
        at += length;
    }
    return ndp;
}

std::size_t Ndp::encode(std::span<std::byte, size_with_option> bytes) const {
    bytes[0] = static_cast<std::byte>(kind);
    bytes[1] = std::byte{0};
    store_be(&bytes[2], checksum);
    const unsigned flags = (router ? 0x80u : 0u) | (solicited ? 0x40u : 0u) | (override_flag ? 0x20u : 0u);
    store_be(&bytes[4], std::uint32_t{flags} << 24);
    store_bytes(&bytes[8], target.bytes);
    if (!link_layer_address) return size;
    bytes[24] = std::byte{kind == Kind::solicitation ? ndp_source_option : ndp_target_option};
    bytes[25] = std::byte{1};
    store_bytes(&bytes[26], link_layer_address->bytes);
    return size_with_option;
}

std::uint32_t checksum_add(std::uint32_t sum, std::span<const std::byte> bytes) {
    std::uint64_t wide = sum;
    std::size_t at = 0;
    for (; at + 2 <= bytes.size(); at += 2)
        wide += load_be<std::uint16_t>(&bytes[at]);
    if (at < bytes.size()) wide += std::to_integer<std::uint64_t>(bytes[at]) << 8;
    while (wide >> 32 != 0)
        wide = (wide & 0xffffffff) + (wide >> 32);
    return static_cast<std::uint32_t>(wide);
}

std::uint16_t checksum_finish(std::uint32_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

std::uint32_t pseudo_header_sum(const Ipv4Address& source, const Ipv4Address& destination,
                                std::uint8_t protocol, std::uint32_t length) {
    std::uint32_t sum = checksum_add(protocol + length, std::as_bytes(std::span(source.bytes)));
    return checksum_add(sum, std::as_bytes(std::span(destination.bytes)));
}

std::uint32_t pseudo_header_sum(const Ipv6Address& source, const Ipv6Address& destination,
                                std::uint8_t next_header, std::uint32_t length) {
    std::uint32_t sum = checksum_add(next_header + length, std::as_bytes(std::span(source.bytes)));
    return checksum_add(sum, std::as_bytes(std::span(destination.bytes)));
}

}  // namespace rocem::protocol
