// The table of deliberate deviations: each entry in its own captures only, and only for what its rule says.
#include "tools/rocem-replay/deviations.hpp"

#include <catch2/catch.hpp>

#include "protocol/syndrome.hpp"

namespace rocem::tools {
namespace {

using protocol::NakCode;
using protocol::Opcode;
using protocol::RocePacket;
using protocol::Syndrome;

RocePacket answer(Opcode opcode, std::uint32_t psn, std::uint32_t msn, Syndrome syndrome = Syndrome::ack()) {
    RocePacket packet;
    packet.info = &protocol::opcode_info(opcode);
    packet.bth.psn = protocol::Psn(psn);
    packet.aeth.msn = protocol::Msn(msn);
    packet.aeth.syndrome = syndrome.raw();
    return packet;
}

RocePacket acknowledge(std::uint32_t psn, std::uint32_t msn, Syndrome syndrome = Syndrome::ack()) {
    return answer(Opcode::rc_acknowledge, psn, msn, syndrome);
}

const Syndrome sequence = Syndrome::nak(NakCode::psn_sequence_error);
const Syndrome invalid = Syndrome::nak(NakCode::invalid_request);
const Syndrome operational = Syndrome::nak(NakCode::remote_operational_error);
const Syndrome rnr = Syndrome::rnr_nak(14);

std::string_view name_of(const Deviation* deviation) {
    return deviation != nullptr ? deviation->name : "none";
}

struct Case {
    ResponderSetup setup;
    RocePacket ours;
    RocePacket peers;
    RocePacket request;
    RocePacket neighbour;
    Disagreement disagreement;

    Case() { disagreement.setup = &setup; }
    std::string_view in(std::string_view file) const { return name_of(find_deviation(file, disagreement)); }
};

TEST_CASE("send too long: 0x63 from rxe for our 0x61, on a SEND", "[deviations]") {
    Case c;
    c.ours = acknowledge(0x100, 0, invalid);
    c.peers = acknowledge(0x100, 0, operational);
    c.request.info = &protocol::opcode_info(Opcode::rc_send_only);
    c.disagreement.ours = &c.ours;
    c.disagreement.peers = &c.peers;
    c.disagreement.request = &c.request;
    CHECK(c.in("t_send_toolong.pcap") == "send too long");
    CHECK(c.in("send_bw.pcap") == "none");
    c.peers = acknowledge(0x100, 1, operational);
    CHECK(c.in("t_send_toolong.pcap") == "none");
    c.peers = acknowledge(0x100, 0, Syndrome::nak(NakCode::remote_access_error));
    CHECK(c.in("t_send_toolong.pcap") == "none");
}

TEST_CASE("SEND_ONLY above the MTU: taken by rxe", "[deviations]") {
    Case c;
    const std::vector<std::byte> payload(1500);
    c.ours = acknowledge(0x100, 4, invalid);
    c.peers = acknowledge(0x100, 5);
    c.request.info = &protocol::opcode_info(Opcode::rc_send_only);
    c.request.payload = payload;
    c.disagreement.ours = &c.ours;
    c.disagreement.peers = &c.peers;
    c.disagreement.request = &c.request;
    CHECK(c.in("host_rc_req_bigonly.pcap") == "SEND_ONLY above the MTU");
    c.request.payload = std::span(payload).first(1024);
    CHECK(c.in("host_rc_req_bigonly.pcap") == "none");
}

TEST_CASE("sequence NAKs where the engine is silent", "[deviations]") {
    Case c;
    c.peers = acknowledge(0x100, 0, sequence);
    c.disagreement.peers = &c.peers;
    SECTION("behind an RNR NAK for the same PSN") {
        c.neighbour = acknowledge(0x100, 0, rnr);
        c.disagreement.previous_peers = &c.neighbour;
        CHECK(c.in("t_rnr.pcap") == "sequence NAK after RNR NAK");
        CHECK(c.in("t_rnr_one.pcap") == "none");
        c.neighbour = acknowledge(0x0ff, 0, rnr);
        CHECK(c.in("t_rnr.pcap") == "none");
    }
    SECTION("beside one for the same gap") {
        c.neighbour = acknowledge(0x100, 0, sequence);
        c.disagreement.next_peers = &c.neighbour;
        CHECK(c.in("host_rc_resp_silent.pcap") == "one NAK per gap");
        CHECK(c.in("t_rnr.pcap") == "none");
        c.neighbour = acknowledge(0x100, 1, sequence);
        CHECK(c.in("host_rc_resp_silent.pcap") == "none");
    }
    SECTION("alone") {
        CHECK(c.in("t_rnr.pcap") == "none");
        CHECK(c.in("host_rc_resp_silent.pcap") == "none");
    }
}

TEST_CASE("RNR NAK inside a message: the gap behind it is the same", "[deviations]") {
    Case c;
    c.setup.min_rnr_timer = 14;
    c.peers = acknowledge(0x503, 1, rnr);
    c.neighbour = acknowledge(0x503, 1, sequence);
    c.disagreement.peers = &c.peers;
    c.disagreement.next_peers = &c.neighbour;
    CHECK(c.in("host_rc_resp_rnr.pcap") == "RNR NAK inside a message");
    CHECK(c.in("t_rnr.pcap") == "none");
    c.setup.min_rnr_timer = 13;
    CHECK(c.in("host_rc_resp_rnr.pcap") == "none");
    c.setup.min_rnr_timer = 14;
    c.neighbour = acknowledge(0x504, 1, sequence);
    CHECK(c.in("host_rc_resp_rnr.pcap") == "none");
}

TEST_CASE("READ resumed at the gap: MIDDLE for FIRST, LAST for ONLY, the same bytes", "[deviations]") {
    Case c;
    const std::vector<std::byte> payload(8, std::byte{7});
    const std::vector<std::byte> other(8, std::byte{8});
    c.request.info = &protocol::opcode_info(Opcode::rc_rdma_read_request);
    c.request.bth.psn = protocol::Psn(0x104);
    c.disagreement.ours = &c.ours;
    c.disagreement.peers = &c.peers;
    c.disagreement.request = &c.request;
    const auto set = [&](Opcode ours, Opcode peers, std::uint32_t psn) {
        c.ours = answer(ours, psn, 4);
        c.peers = answer(peers, psn, 4);
        c.ours.payload = c.peers.payload = payload;
    };
    set(Opcode::rc_rdma_read_response_first, Opcode::rc_rdma_read_response_middle, 0x104);
    CHECK(c.in("t_loss_read.pcap") == "READ resumed at the gap");
    CHECK(c.in("read_bw_v6.pcap") == "none");
    c.peers.payload = other;
    CHECK(c.in("t_loss_read.pcap") == "none");
    set(Opcode::rc_rdma_read_response_only, Opcode::rc_rdma_read_response_last, 0x104);
    CHECK(c.in("t_loss_read.pcap") == "READ resumed at the gap");
    c.peers.aeth.msn = protocol::Msn(5);
    CHECK(c.in("t_loss_read.pcap") == "none");
    // Not the first packet of what was asked for.
    set(Opcode::rc_rdma_read_response_first, Opcode::rc_rdma_read_response_middle, 0x105);
    CHECK(c.in("t_loss_read.pcap") == "none");
}

TEST_CASE("credits: the peer grants none, all else is the same", "[deviations]") {
    Case c;
    c.ours = acknowledge(0x100, 1);
    c.peers = acknowledge(0x100, 1, Syndrome::ack(0));
    c.request.info = &protocol::opcode_info(Opcode::rc_send_only);
    c.disagreement.ours = &c.ours;
    c.disagreement.peers = &c.peers;
    c.disagreement.request = &c.request;
    CHECK(c.in("host_rc_resp_credits0.pcap") == "credits");
    CHECK(c.in("host_rc_responder.pcap") == "none");
    c.peers = acknowledge(0x100, 2, Syndrome::ack(0));
    CHECK(c.in("host_rc_resp_credits0.pcap") == "none");
    c.peers = acknowledge(0x100, 1, Syndrome::ack(1));
    CHECK(c.in("host_rc_resp_credits0.pcap") == "none");
}

}  // namespace
}  // namespace rocem::tools
