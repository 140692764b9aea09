#include <catch2/catch.hpp>

#include "protocol/arp.hpp"
#include "protocol/checksum.hpp"
#include "protocol/ethernet.hpp"
#include "protocol/icmp.hpp"
#include "protocol/ipv4.hpp"
#include "protocol/ipv6.hpp"
#include "protocol/ndp.hpp"
#include "protocol/udp.hpp"
#include "tests/unit/protocol/bytes.hpp"

using namespace rocem::protocol;
using rocem::test::Bytes;
using rocem::test::decode_encode;
using rocem::test::from_hex;
using rocem::test::Guarded;
using rocem::test::to_hex;

namespace {

template <class Header>
Header decode(std::string_view hex) {
    const auto bytes = from_hex(hex);
    REQUIRE(bytes.size() == Header::size);
    return Header::decode(std::span(bytes).template first<Header::size>());
}

Bytes encode(const Ndp& ndp) {
    Guarded<Ndp::size_with_option> out;
    const std::size_t length = ndp.encode(out.span());
    CHECK(out.guard_is_untouched());
    return from_hex(out.hex().substr(0, length * 2));
}

}  // namespace

TEST_CASE("Ethernet", "[ethernet]") {
    const auto header = decode<Ethernet>("020000000001 020000000002 8915");
    CHECK(header.destination.to_string() == "02:00:00:00:00:01");
    CHECK(header.source.to_string() == "02:00:00:00:00:02");
    CHECK(header.ether_type == ether_type_roce_v1);
}

TEST_CASE("VLAN tag: priority, drop eligibility, VLAN", "[vlan]") {
    const auto tag = decode<Vlan>("7064 0800");
    CHECK(tag.pcp == 3);
    CHECK(tag.dei);
    CHECK(tag.vid == 100);
    CHECK(tag.ether_type == ether_type_ipv4);
    CHECK(is_vlan_tag(0x8100));
    CHECK(is_vlan_tag(0x88a8));
    CHECK_FALSE(is_vlan_tag(0x0800));
}

TEST_CASE("IPv4: fields and checksum of a captured header", "[ipv4]") {
    constexpr auto text = "45c2003c718c4000401191610a0011010a001201";
    const auto header = decode<Ipv4>(text);
    CHECK(header.version == 4);
    CHECK(header.ihl == 5);
    CHECK(header.tos == 0xc2);
    CHECK(header.total_length == 60);
    CHECK(header.identification == 0x718c);
    CHECK(header.dont_fragment);
    CHECK_FALSE(header.more_fragments);
    CHECK_FALSE(header.reserved_flag);
    CHECK(header.fragment_offset == 0);
    CHECK(header.ttl == 64);
    CHECK(header.protocol == ip_protocol_udp);
    CHECK(header.header_checksum == 0x9161);
    CHECK(header.computed_checksum() == 0x9161);
    CHECK(Ipv4::checksum_is_right(from_hex(text)));
    Bytes wrong = from_hex(text);
    wrong[8] = std::byte{63};
    CHECK_FALSE(Ipv4::checksum_is_right(wrong));
}

TEST_CASE("IPv4: flags and fragment offset", "[ipv4]") {
    CHECK(decode<Ipv4>("4500001400008000000000000000000000000000").reserved_flag);
    CHECK(decode<Ipv4>("4500001400002000000000000000000000000000").more_fragments);
    CHECK(decode<Ipv4>("4500001400001fff000000000000000000000000").fragment_offset == 0x1fff);
}

TEST_CASE("IPv6 and GRH", "[ipv6]") {
    const auto header =
        decode<Ipv6>("6e21face002c11ff 20220000000000000000000000001023 20230000000000000000000000001024");
    CHECK(header.version == 6);
    CHECK(header.traffic_class == 0xe2);
    CHECK(header.flow_label == 0x1face);
    CHECK(header.payload_length == 44);
    CHECK(header.next_header == 17);
    CHECK(header.hop_limit == 255);
    CHECK(header.source.to_string() == "2022::1023");
    CHECK(header.destination.to_string() == "2023::1024");
}

TEST_CASE("UDP", "[udp]") {
    const auto header = decode<Udp>("c00012b7002caca2");
    CHECK(header.source_port == 0xc000);
    CHECK(header.destination_port == 4791);
    CHECK(header.length == 44);
    CHECK(header.checksum == 0xaca2);
}

TEST_CASE("UDP source ports of flow labels and of queue pairs", "[udp]") {
    // The label that perftest's captures have: 0xabcde gives port 64756.
    CHECK(udp_source_port(0xabcde) == 64756);
    CHECK(udp_source_port(0) == 0xc000);
    CHECK(udp_source_port(0xfffff) == (0xc000 | (0x3fff ^ 0x3f)));
    // Without a label: v = lqpn * rqpn; v ^= v >> 20; v ^= v >> 40; 20 bits.
    CHECK(flow_label_of(Qpn(0x100000), Qpn(0x300)) == 0x00300);     // v = 0x30000000
    CHECK(flow_label_of(Qpn(0x800001), Qpn(0x800001)) == 0x00051);  // v = 0x400001000001
    CHECK(flow_label_of(Qpn(0x37), Qpn(0x39)) == 0x37 * 0x39);
    CHECK(udp_source_port(flow_label_of(Qpn(0x37), Qpn(0x39))) == 52287);  // captured: t_atomic_vals
    CHECK(flow_label_of(Qpn(17), Qpn(99)) == flow_label_of(Qpn(99), Qpn(17)));
}

TEST_CASE("ARP", "[arp]") {
    constexpr auto text = "0001080006040001 525400770009 0a4d0009 000000000000 0a4d0002";
    const Bytes bytes = from_hex(text);
    const auto arp = Arp::decode(std::span(bytes).first<Arp::size>());
    REQUIRE(arp);
    CHECK(arp->operation == Arp::request);
    CHECK(arp->sender_mac.to_string() == "52:54:00:77:00:09");
    CHECK(arp->sender_ip.to_string() == "10.77.0.9");
    CHECK(arp->target_mac.is_zero());
    CHECK(arp->target_ip.to_string() == "10.77.0.2");
    Guarded<Arp::size> out;
    arp->encode(out.span());
    CHECK(out.guard_is_untouched());
    CHECK(out.hex() == to_hex(from_hex(text)));
}

TEST_CASE("ARP for another hardware or protocol is not ours", "[arp]") {
    const auto start =
        GENERATE("0006080006040001", "000186dd06040001", "0001080008040001", "0001080006100001");
    Bytes bytes = from_hex(start);
    bytes.resize(Arp::size);
    CHECK_FALSE(Arp::decode(std::span(bytes).first<Arp::size>()));
}

TEST_CASE("ICMP echo", "[icmp]") {
    const auto echo = decode<Icmp>("0800 f7ff 1234 0007");
    CHECK(echo.type == Icmp::v4_echo_request);
    CHECK(echo.identifier() == 0x1234);
    CHECK(echo.sequence() == 7);
}

TEST_CASE("neighbour solicitation with its source link-layer address", "[ndp]") {
    const Bytes message = from_hex("87 00 1234 00000000 fd770000000000000000000000000002 01 01 525400770001");
    const auto ndp = Ndp::decode(message);
    REQUIRE(ndp);
    CHECK(ndp->kind == Ndp::Kind::solicitation);
    CHECK(ndp->checksum == 0x1234);
    CHECK(ndp->target.to_string() == "fd77::2");
    REQUIRE(ndp->link_layer_address);
    CHECK(ndp->link_layer_address->to_string() == "52:54:00:77:00:01");
    CHECK(encode(*ndp) == message);
}

TEST_CASE("neighbour advertisement with and without its option", "[ndp]") {
    const Bytes message = from_hex("88 00 0000 e0000000 fd770000000000000000000000000002");
    const auto ndp = Ndp::decode(message);
    REQUIRE(ndp);
    CHECK(ndp->kind == Ndp::Kind::advertisement);
    CHECK(ndp->router);
    CHECK(ndp->solicited);
    CHECK(ndp->override_flag);
    CHECK_FALSE(ndp->link_layer_address);
    CHECK(encode(*ndp) == message);

    Bytes with_option = message;
    const Bytes option = from_hex("02 01 020000000002");
    with_option.insert(with_option.end(), option.begin(), option.end());
    CHECK(Ndp::decode(with_option)->link_layer_address->to_string() == "02:00:00:00:00:02");
}

TEST_CASE("malformed neighbour messages", "[ndp]") {
    const std::string head = "87 00 0000 00000000 fd770000000000000000000000000002";
    CHECK_FALSE(Ndp::decode(from_hex(head + "01 00 020000000002")));  // an option of length 0
    CHECK_FALSE(Ndp::decode(from_hex(head + "01 02 020000000002")));  // longer than the message
    CHECK_FALSE(Ndp::decode(from_hex(head + "01")));
    CHECK_FALSE(Ndp::decode(from_hex("87 01 0000 00000000 fd770000000000000000000000000002")));  // code 1
    CHECK_FALSE(Ndp::decode(from_hex("80 00 0000 00000000 fd770000000000000000000000000002")));  // echo
    const Bytes whole = from_hex(head + "01 01 020000000002");
    for (std::size_t length = 0; length < Ndp::size; ++length)
        CHECK_FALSE(Ndp::decode(std::span(whole).first(length)));
    // Options of another kind are skipped (RFC 4861 4.6).
    CHECK(Ndp::decode(from_hex(head + "0e 01 000000000000 01 01 020000000002"))->link_layer_address);
}

TEST_CASE("Internet checksum: the example of RFC 1071", "[checksum]") {
    const Bytes bytes = from_hex("0001 f203 f4f5 f6f7");
    CHECK(checksum_finish(checksum_add(0, bytes)) == 0x220d);                          // the sum is 0xddf2
    CHECK(checksum_finish(checksum_add(0, from_hex("0001 f203 f4f5 f6"))) == 0x2304);  // an odd byte is high
    CHECK(checksum_finish(0) == 0xffff);
}

TEST_CASE("checksum over pseudo headers: a captured UDP packet and an echo", "[checksum]") {
    const Bytes udp = from_hex(
        "c00012b7002caca2 2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3");
    const auto address = *Ipv4Address::from_string("192.168.0.7");
    const auto length = static_cast<std::uint32_t>(udp.size());
    CHECK(checksum_finish(checksum_add(pseudo_header_sum(address, address, 17, length), udp)) == 0);

    const Bytes udp6 = from_hex(
        "c00012b7002ce7c5 2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 3e5b743b");
    const auto source = *Ipv6Address::from_string("2022::1023");
    const auto destination = *Ipv6Address::from_string("2023::1024");
    CHECK(checksum_finish(checksum_add(pseudo_header_sum(source, destination, 17, length), udp6)) == 0);
}

TEMPLATE_TEST_CASE("any bytes come back from decode and encode", "[property]", Ethernet, Vlan, Ipv4, Ipv6,
                   Udp, Icmp) {
    const unsigned seed = GENERATE(1u, 2u, 3u);
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 300; ++i) {
        const std::string hex = to_hex(rocem::test::random_bytes(random, TestType::size));
        REQUIRE(decode_encode<TestType>(hex) == hex);
    }
}
