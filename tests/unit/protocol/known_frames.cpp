#include "tests/unit/protocol/known_frames.hpp"

namespace rocem::test {
namespace {

using namespace rocem::protocol;

RocePacket packet_of(Opcode opcode) {
    RocePacket roce;
    roce.info = &opcode_info(opcode);
    roce.bth.opcode = static_cast<std::uint8_t>(opcode);
    return roce;
}

MacAddress mac(std::string_view text) {
    return MacAddress::from_string(text).value();
}

Gid gid(std::string_view text) {
    return Gid::from_string(text).value();
}

RocePacket uc_send() {
    RocePacket roce = packet_of(Opcode::uc_send_only);
    roce.bth.mig_req = true;
    roce.bth.pad_count = 2;
    roce.bth.dest_qp = Qpn(0xd3);
    roce.bth.psn = Psn(0xcf1710);
    return roce;
}

const Bytes uc_payload = from_hex("4630 818b e289 35d9 0e9a 9550 5401 be88 5e50");

KnownFrame uc_send_over_ipv4() {
    KnownFrame known;
    known.name = "UC SEND over IPv4";
    known.path.source_mac = known.path.destination_mac = mac("24:8a:07:a8:fa:22");
    known.path.source_gid = known.path.destination_gid = gid("192.168.0.7");
    known.path.traffic_class = 1;
    known.path.udp_source_port = 49152;
    known.ipv4_identification = 0x0478;
    known.roce = uc_send();
    known.payload = uc_payload;
    known.icrc = "78f353f3";
    return known;
}

KnownFrame uc_send_over_ipv6() {
    KnownFrame known = uc_send_over_ipv4();
    known.name = "UC SEND over IPv6";
    known.path.source_gid = gid("2022::1023");
    known.path.destination_gid = gid("2023::1024");
    known.path.traffic_class = 0xe2;
    known.path.flow_label = 0x1face;
    known.path.hop_limit = 255;
    known.icrc = "3e5b743b";
    return known;
}

KnownFrame cnp() {
    KnownFrame known;
    known.name = "CNP";
    known.path.source_mac = mac("7c:fe:90:64:3b:32");
    known.path.destination_mac = mac("e4:1d:2d:ab:2b:c2");
    known.path.source_gid = gid("10.0.17.1");
    known.path.destination_gid = gid("10.0.18.1");
    known.path.traffic_class = 0xc2;
    known.path.udp_source_port = 0;
    known.ipv4_identification = 0x718c;
    known.roce = packet_of(Opcode::cnp);
    known.roce.bth.becn = true;
    known.roce.bth.dest_qp = Qpn(0x118);
    known.icrc = "82fd002a";
    return known;
}

PathHeaders roce_v1_path() {
    PathHeaders path;
    path.source_mac = path.destination_mac = mac("7c:fe:90:75:3c:d8");
    path.source_gid = path.destination_gid = gid("15.0.0.2");
    path.traffic_class = 2;
    path.hop_limit = 64;
    path.roce_v1 = true;
    return path;
}

KnownFrame roce_v1_write() {
    KnownFrame known;
    known.name = "RoCE v1 WRITE";
    known.path = roce_v1_path();
    known.roce = packet_of(Opcode::rc_rdma_write_only);
    known.roce.bth.mig_req = true;
    known.roce.bth.pad_count = 3;
    known.roce.bth.dest_qp = Qpn(0x10a);
    known.roce.bth.ack_request = true;
    known.roce.bth.psn = Psn(0xa788bc);
    known.roce.reth = {0x55d4c0726000, RKey(0x47b3), 5};
    known.payload = from_hex("00 00 00 00 01");
    known.icrc = "e3d856bb";
    return known;
}

KnownFrame roce_v1_ack() {
    KnownFrame known;
    known.name = "RoCE v1 ACK";
    known.path = roce_v1_path();
    known.roce = packet_of(Opcode::rc_acknowledge);
    known.roce.bth.mig_req = true;
    known.roce.bth.dest_qp = Qpn(0x109);
    known.roce.bth.psn = Psn(0xa788c0);
    known.roce.aeth = {0x00, Msn(5)};
    known.icrc = "25f0c038";
    return known;
}

KnownFrame read_request() {
    KnownFrame known;
    known.name = "RC READ request";
    known.path.source_mac = mac("00:0c:29:89:a2:e5");
    known.path.destination_mac = mac("00:0c:29:ae:1c:a4");
    known.path.source_gid = gid("192.168.56.129");
    known.path.destination_gid = gid("192.168.56.131");
    known.path.udp_source_port = 57236;
    known.ipv4_identification = 0xbe10;
    known.roce = packet_of(Opcode::rc_rdma_read_request);
    known.roce.bth.dest_qp = Qpn(0x11);
    known.roce.bth.ack_request = true;
    known.roce.bth.psn = Psn(0x54cb63);
    known.roce.reth = {0x7fee260fb000, RKey(0x2b8), 65536};
    known.icrc = "08c6154a";
    return known;
}

}  // namespace

std::vector<KnownFrame> known_frames() {
    return {uc_send_over_ipv4(), uc_send_over_ipv6(), cnp(), roce_v1_write(), roce_v1_ack(), read_request()};
}

Bytes build(const KnownFrame& known) {
    RocePacket roce = known.roce;
    roce.payload = known.payload;
    Bytes frame(frame_bytes_max(payload_bytes_max), std::byte{0xa5});
    frame.resize(encode_frame(build_template(known.path), roce, known.ipv4_identification, frame));
    return frame;
}

}  // namespace rocem::test
