#include "protocol/encode.hpp"

#include <catch2/catch.hpp>

#include "protocol/checksum.hpp"
#include "tests/unit/protocol/known_frames.hpp"

using namespace rocem::protocol;
using rocem::test::Bytes;
using rocem::test::to_hex;

namespace {

PathHeaders ipv4_path() {
    PathHeaders path;
    path.source_mac = *MacAddress::from_string("52:54:00:77:00:01");
    path.destination_mac = *MacAddress::from_string("52:54:00:77:00:02");
    path.source_gid = *Gid::from_string("10.77.0.1");
    path.destination_gid = *Gid::from_string("10.77.0.2");
    path.udp_source_port = 0xcc3f;
    return path;
}

RocePacket ack() {
    RocePacket roce;
    roce.info = &opcode_info(Opcode::rc_acknowledge);
    roce.bth.opcode = 0x11;
    roce.bth.dest_qp = Qpn(0x39);
    roce.bth.psn = Psn(0x100);
    roce.aeth = {0x1f, Msn(1)};
    return roce;
}

}  // namespace

TEST_CASE("the headers of an IPv4 path", "[frame_template]") {
    const FrameTemplate frame_template = build_template(ipv4_path());
    CHECK(frame_template.size == 42);
    CHECK(frame_template.l3_offset == 14);
    CHECK(frame_template.udp_offset == 34);
    Bytes out(60, std::byte{0xa5});
    CHECK(write_headers(frame_template, out, 20, 0x1234) == 42);
    // Total length 48, DF, TTL 64, UDP length 28, UDP checksum none.
    CHECK(to_hex(std::span(out).first(24)) ==
          "525400770002"
          "525400770001"
          "0800"
          "45000030"
          "12344000"
          "4011");
    CHECK(to_hex(std::span(out).subspan(26, 16)) ==
          "0a4d0001"
          "0a4d0002"
          "cc3f12b7"
          "001c0000");
    CHECK(Ipv4::checksum_is_right(std::span(out).subspan(14, Ipv4::size)));
    CHECK(out[42] == std::byte{0xa5});
}

TEST_CASE("the header checksum is right for every length and identification", "[frame_template]") {
    PathHeaders path = ipv4_path();
    path.traffic_class = GENERATE(as<std::uint8_t>{}, 0, 0x6a, 0xff);
    const FrameTemplate frame_template = build_template(path);
    Bytes out(frame_template.size);
    for (std::uint32_t identification = 0; identification < 0x10000; identification += 251) {
        for (const std::size_t length : {16u, 1064u, 4152u}) {
            write_headers(frame_template, out, length, static_cast<std::uint16_t>(identification));
            REQUIRE(Ipv4::checksum_is_right(std::span(out).subspan(14, Ipv4::size)));
        }
    }
}

TEST_CASE("the headers of an IPv6 path, with a VLAN tag", "[frame_template]") {
    PathHeaders path = ipv4_path();
    path.source_gid = *Gid::from_string("fd77::1");
    path.destination_gid = *Gid::from_string("fd77::2");
    path.traffic_class = 0xba;
    path.flow_label = 0xabcde;
    path.hop_limit = 7;
    path.vlan = Vlan{3, false, 100, 0};
    const FrameTemplate frame_template = build_template(path);
    CHECK(frame_template.size == 14 + 4 + 40 + 8);
    Bytes out(frame_template.size);
    write_headers(frame_template, out, 20, 0x1234);
    CHECK(to_hex(std::span(out).subspan(12, 14)) ==
          "8100"
          "606486dd"
          "6baabcde"
          "001c1107");
    CHECK(to_hex(std::span(out).subspan(58)) == "cc3f12b7001c0000");
}

TEST_CASE("the headers of a RoCE v1 path", "[frame_template]") {
    PathHeaders path = ipv4_path();
    path.roce_v1 = true;
    const FrameTemplate frame_template = build_template(path);
    CHECK(frame_template.size == 14 + 40);
    CHECK(frame_template.udp_offset == 0);
    Bytes out(frame_template.size);
    write_headers(frame_template, out, 20, 0);
    CHECK(to_hex(std::span(out).subspan(12, 10)) ==
          "8915"
          "60000000"
          "00141b40");
    CHECK(to_hex(std::span(out).subspan(22, 16)) == "00000000000000000000ffff0a4d0001");
}

TEST_CASE("a new next hop changes the destination MAC only", "[frame_template]") {
    FrameTemplate frame_template = build_template(ipv4_path());
    const FrameTemplate before = frame_template;
    set_destination_mac(frame_template, *MacAddress::from_string("02:00:00:00:00:09"));
    CHECK(to_hex(std::span(frame_template.bytes).first(6)) == "020000000009");
    CHECK(to_hex(std::span(frame_template.bytes).subspan(6)) == to_hex(std::span(before.bytes).subspan(6)));
}

TEST_CASE("an ACK is 62 bytes", "[encode]") {
    const FrameTemplate frame_template = build_template(ipv4_path());
    Bytes out(70, std::byte{0xa5});
    CHECK(encode_frame(frame_template, ack(), 0, out) == 62);
    CHECK(to_hex(std::span(out).subspan(42, 16)) ==
          "1100ffff"
          "00000039"
          "00000100"
          "1f000001");
    CHECK(to_hex(std::span(out).subspan(62)) == "a5a5a5a5a5a5a5a5");
}

TEST_CASE("a frame that does not fit is not written", "[encode]") {
    const FrameTemplate frame_template = build_template(ipv4_path());
    Bytes out(61, std::byte{0xa5});
    CHECK(encode_frame(frame_template, ack(), 0, out) == 0);
    CHECK(to_hex(out) == to_hex(Bytes(61, std::byte{0xa5})));
}

TEST_CASE("pad bytes are zero", "[encode]") {
    const FrameTemplate frame_template = build_template(ipv4_path());
    const Bytes payload(5, std::byte{0x77});
    RocePacket roce;
    roce.info = &opcode_info(Opcode::rc_send_only);
    roce.bth.opcode = 0x04;
    roce.bth.pad_count = PadCount::for_length(payload.size()).value();
    roce.payload = payload;
    Bytes out(80, std::byte{0xa5});
    const std::size_t length = encode_frame(frame_template, roce, 0, out);
    CHECK(length == 42 + 12 + 5 + 3 + 4);
    CHECK(to_hex(std::span(out).subspan(38, 2)) == "0020");  // UDP length 32, as a SEND of 5 bytes has
    CHECK(to_hex(std::span(out).subspan(54, 8)) == "7777777777000000");
}

TEST_CASE("extended headers stand in the order of the wire", "[encode]") {
    RocePacket roce;
    roce.xrceth = {0, Qpn(0x010203)};
    roce.deth = {QKey(0x11111111), 0, Qpn(0x22)};
    roce.feth = {0, 1, 0};
    roce.reth = {0x3333, RKey(0x44), 0x55};
    roce.atomic_eth = {0x6666, RKey(0x77), 0x88, 0x99};
    roce.aeth = {0x60, Msn(0xaa)};
    roce.atomic_ack_eth = {0xbb};
    roce.immdt = {0xcccccccc};
    roce.ieth = {RKey(0xdddddddd)};
    const std::string reth =
        "0000000000003333"
        "00000044"
        "00000055";
    const auto [opcode, headers] = GENERATE_COPY(table<Opcode, std::string>({
        {Opcode::rc_send_middle, ""},
        {Opcode::rc_rdma_write_only_with_immediate, reth + "cccccccc"},
        {Opcode::xrc_rdma_write_only_with_immediate, "00010203" + reth + "cccccccc"},
        {Opcode::ud_send_only_with_immediate,
         "11111111"
         "00000022"
         "cccccccc"},
        {Opcode::rc_flush, "00000001" + reth},
        {Opcode::rc_fetch_add,
         "0000000000006666"
         "00000077"
         "0000000000000088"
         "0000000000000099"},
        {Opcode::rc_atomic_acknowledge,
         "600000aa"
         "00000000000000bb"},
        {Opcode::xrc_send_only_with_invalidate,
         "00010203"
         "dddddddd"},
        {Opcode::xrc_rdma_read_response_last, "600000aa"},
        {Opcode::cnp, "00000000000000000000000000000000"},
    }));
    roce.info = &opcode_info(opcode);
    Bytes out(transport_headers_max + 4, std::byte{0xa5});
    const std::size_t length = encode_transport(roce, out);
    CHECK(length == transport_header_bytes(*roce.info));
    CHECK(to_hex(std::span(out).subspan(Bth::size, length - Bth::size)) == headers);
    CHECK(out[length] == std::byte{0xa5});
}

TEST_CASE("no header is longer than the limit says", "[encode]") {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        const OpcodeInfo* info = opcode_info(static_cast<std::uint8_t>(opcode));
        if (info != nullptr) CHECK(transport_header_bytes(*info) <= transport_headers_max);
    }
    CHECK(frame_bytes_max(4096) == 66 + 44 + 4096 + 4);
}
