#include "protocol/print.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/protocol/frame_builder.hpp"

using namespace rocem::protocol;
using namespace rocem::test;

namespace {

std::string line_of(const Bytes& frame, std::size_t original_bytes = 0) {
    Packet packet;
    (void)parse_frame_into(packet, frame, original_bytes);
    return print(packet);
}

RocePacket packet_of(Opcode opcode) {
    RocePacket roce;
    roce.info = &opcode_info(opcode);
    roce.bth.opcode = static_cast<std::uint8_t>(opcode);
    roce.bth.dest_qp = Qpn(0x11);
    roce.bth.psn = Psn(5);
    return roce;
}

}  // namespace

TEST_CASE("a packet in the spec's words", "[print]") {
    CHECK(
        line_of(make_frame(Opcode::rc_rdma_write_first, 1024)) ==
        "10.0.0.1 > 10.0.0.2 RC RDMA_WRITE_FIRST qp 0x11 psn 0xfffffe va 0x1000 rkey 0x1234 len 1024 payload "
        "1024");
    CHECK(line_of(make_frame(Opcode::uc_send_only, 5)) ==
          "10.0.0.1 > 10.0.0.2 UC SEND_ONLY qp 0x11 psn 0xfffffe payload 5 pad 3");
    CHECK(line_of(make_frame(Opcode::rc_rdma_read_request, 0)) ==
          "10.0.0.1 > 10.0.0.2 RC RDMA_READ_REQUEST qp 0x11 psn 0xfffffe va 0x1000 rkey 0x1234 len 0");
    CHECK(line_of(make_frame(Opcode::cnp, 0)) == "10.0.0.1 > 10.0.0.2 CNP qp 0x11 psn 0xfffffe");
}

TEST_CASE("flags that are set are named", "[print]") {
    RocePacket roce = packet_of(Opcode::rc_send_only);
    roce.bth.ack_request = roce.bth.solicited_event = roce.bth.mig_req = true;
    roce.bth.fecn = roce.bth.becn = true;
    roce.bth.p_key = PKey(0x1234);
    roce.bth.t_ver = 1;
    roce.bth.resv6 = 0x3f;
    roce.bth.resv7 = 0x7f;
    CHECK(print(roce) ==
          "RC SEND_ONLY qp 0x11 psn 0x5 A SE M FECN BECN pkey 0x1234 tver 1 resv6 0x3f resv7 0x7f payload 0");
}

TEST_CASE("extended headers", "[print]") {
    RocePacket roce = packet_of(Opcode::rc_acknowledge);
    roce.aeth = {0x62, Msn(3)};
    CHECK(print(roce) == "RC ACKNOWLEDGE qp 0x11 psn 0x5 NAK remote access error msn 3");
    roce = packet_of(Opcode::rc_compare_swap);
    roce.atomic_eth = {0x1000, RKey(7), 2, 1};
    CHECK(print(roce) == "RC COMPARE_SWAP qp 0x11 psn 0x5 va 0x1000 rkey 0x7 compare 0x1 swap 0x2");
    roce = packet_of(Opcode::rc_fetch_add);
    roce.atomic_eth = {0x1000, RKey(7), 1, 0};
    CHECK(print(roce) == "RC FETCH_ADD qp 0x11 psn 0x5 va 0x1000 rkey 0x7 add 0x1");
    roce = packet_of(Opcode::rc_atomic_acknowledge);
    roce.aeth = {0x1f, Msn(1)};
    roce.atomic_ack_eth.original = 41;
    CHECK(print(roce) == "RC ATOMIC_ACKNOWLEDGE qp 0x11 psn 0x5 ACK credits unlimited msn 1 original 0x29");
    roce = packet_of(Opcode::ud_send_only_with_immediate);
    roce.deth = {QKey(0x11111111), 0, Qpn(0x22)};
    roce.immdt.value = 0xcafe;
    CHECK(print(roce) ==
          "UD SEND_ONLY_WITH_IMMEDIATE qp 0x11 psn 0x5 qkey 0x11111111 srcqp 0x22 imm 0xcafe payload 0");
    roce = packet_of(Opcode::xrc_send_only_with_invalidate);
    roce.xrceth.srqn = Qpn(9);
    roce.ieth.r_key = RKey(0x77);
    CHECK(print(roce) == "XRC SEND_ONLY_WITH_INVALIDATE qp 0x11 psn 0x5 srqn 0x9 inv rkey 0x77 payload 0");
}

TEST_CASE("syndromes", "[print]") {
    CHECK(print_syndrome(0x1f) == "ACK credits unlimited");
    CHECK(print_syndrome(0x04) == "ACK credits 4");
    CHECK(print_syndrome(0x2c) == "RNR NAK timer 0.64 ms");
    CHECK(print_syndrome(0x20) == "RNR NAK timer 655.36 ms");
    CHECK(print_syndrome(0x60) == "NAK PSN sequence error");
    CHECK(print_syndrome(0x61) == "NAK invalid request");
    CHECK(print_syndrome(0x63) == "NAK remote operational error");
    CHECK(print_syndrome(0x64) == "NAK invalid RD request");
    CHECK(print_syndrome(0x65) == "reserved syndrome 0x65");
    CHECK(print_syndrome(0x40) == "reserved syndrome 0x40");
}

TEST_CASE("other frames", "[print]") {
    const std::string macs = "020000000002 020000000001";
    CHECK(line_of(from_hex(macs + "0806 0001080006040001 525400770009 0a4d0009 000000000000 0a4d0002")) ==
          "02:00:00:00:00:01 > 02:00:00:00:00:02 ARP who has 10.77.0.2, tell 10.77.0.9");
    CHECK(line_of(from_hex(macs + "0806 0001080006040002 525400770002 0a4d0002 525400770009 0a4d0009")) ==
          "02:00:00:00:00:01 > 02:00:00:00:00:02 ARP 10.77.0.2 is at 52:54:00:77:00:02");
    CHECK(line_of(from_hex(macs + "0800 4500001c00000000 40010000 0a000001 0a000002 0800f7ff12340007")) ==
          "10.0.0.1 > 10.0.0.2 ICMP echo request id 4660 seq 7");
    CHECK(line_of(from_hex(macs + "88cc 0207")) ==
          "02:00:00:00:00:01 > 02:00:00:00:00:02 EtherType 0x88cc 16 bytes");
}

TEST_CASE("congestion and VLAN tags", "[print]") {
    PathHeaders path = test_path();
    path.traffic_class = 3;
    path.vlan = Vlan{0, false, 100, 0};
    CHECK(line_of(make_frame(Opcode::rc_send_only, 4, path)) ==
          "10.0.0.1 > 10.0.0.2 vlan 100 CE RC SEND_ONLY qp 0x11 psn 0xfffffe payload 4");
}

TEST_CASE("what was cut off or refused is printed as far as it is known", "[print]") {
    Bytes frame = make_frame(Opcode::rc_rdma_write_only, 8);
    const std::size_t whole = frame.size();
    Bytes cut = frame;
    cut.resize(bth_at + 20);
    CHECK(line_of(cut, whole) ==
          "10.0.0.1 > 10.0.0.2 RC RDMA_WRITE_ONLY qp 0x11 psn 0xfffffe payload 8, truncated");
    cut.resize(bth_at + 2);
    CHECK(line_of(cut, whole) == "10.0.0.1 > 10.0.0.2 RoCE v2, truncated");
    frame[bth_at] = std::byte{0xff};
    CHECK(line_of(frame) == "10.0.0.1 > 10.0.0.2 opcode 0xff qp 0x11 psn 0xfffffe");
}
