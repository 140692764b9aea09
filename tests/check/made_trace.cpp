#include "tests/check/made_trace.hpp"

#include "protocol/encode.hpp"
#include "tools/check/trace_checker.hpp"

namespace rocem::test {
namespace {

using namespace rocem::protocol;

constexpr std::uint32_t mtu = 256;
constexpr Qpn requester_qpn{0x11};
constexpr Qpn responder_qpn{0x22};

Gid gid_of(Outer outer, std::uint8_t host) {
    if (outer == Outer::ipv4) return Gid::from_ipv4({{10, 0, 0, host}});
    Ipv6Address address{};
    address.bytes[0] = 0xfd;
    address.bytes[15] = host;
    return Gid::from_ipv6(address);
}

FrameTemplate template_of(Outer outer, std::uint8_t from, std::uint8_t to) {
    PathHeaders path;
    path.source_mac = {{2, 0, 0, 0, 0, from}};
    path.destination_mac = {{2, 0, 0, 0, 0, to}};
    path.source_gid = gid_of(outer, from);
    path.destination_gid = gid_of(outer, to);
    path.roce_v1 = outer == Outer::roce_v1;
    return build_template(path);
}

}  // namespace

MadeTrace::MadeTrace(Outer outer)
    : to_responder_(template_of(outer, 1, 2)), to_requester_(template_of(outer, 2, 1)) {}

void MadeTrace::add(bool request, Opcode opcode, RocePacket packet, std::size_t payload_bytes) {
    constexpr std::uint8_t xrc = 0xa0;
    const auto raw = static_cast<std::uint8_t>(static_cast<std::uint8_t>(opcode) | (xrc_ ? xrc : 0));
    const std::vector<std::byte> payload(payload_bytes, std::byte{0x5a});
    packet.info = opcode_info(raw);
    packet.bth.opcode = raw;
    packet.bth.dest_qp = request ? responder_qpn : requester_qpn;
    packet.bth.ack_request = request && packet.info->ends_message();
    packet.bth.pad_count = PadCount::for_length(payload_bytes).value();
    packet.payload = payload;
    std::vector<std::byte> frame(frame_bytes_max(payload_bytes));
    frame.resize(encode_frame(request ? to_responder_ : to_requester_, packet, identification_++, frame));
    now_ += std::chrono::microseconds(1);
    frames_.push_back({now_, std::move(frame)});
}

void MadeTrace::send(Opcode opcode, std::uint32_t psn) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    const OpcodeInfo& info = opcode_info(opcode);
    packet.reth = {0x1000, RKey(7), info.position == Position::only ? 100u : 2 * mtu + 100};
    add(true, opcode, packet, info.ends_message() ? 100 : mtu);
}

void MadeTrace::read(std::uint32_t psn, std::uint32_t length, std::uint64_t va) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    packet.reth = {va, RKey(7), length};
    add(true, Opcode::rc_rdma_read_request, packet, 0);
}

void MadeTrace::atomic(Opcode opcode, std::uint32_t psn) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    packet.atomic_eth = {0x1000, RKey(7), 1, 0};
    add(true, opcode, packet, 0);
}

void MadeTrace::ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    packet.aeth = {syndrome, Msn(msn)};
    add(false, Opcode::rc_acknowledge, packet, 0);
}

void MadeTrace::response(Opcode opcode, std::uint32_t psn, std::uint32_t msn, std::size_t bytes) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    packet.aeth = {0x1f, Msn(msn)};
    add(false, opcode, packet, bytes);
}

void MadeTrace::atomic_ack(std::uint32_t psn, std::uint32_t msn, std::uint64_t original) {
    RocePacket packet;
    packet.bth.psn = Psn(psn);
    packet.aeth = {0x1f, Msn(msn)};
    packet.atomic_ack_eth.original = original;
    add(false, Opcode::rc_atomic_acknowledge, packet, 0);
}

void MadeTrace::copy_last() {
    frames_.push_back(frames_.back());
}

tools::Report MadeTrace::check(const tools::CheckOptions& options) const {
    tools::TraceChecker checker(options);
    std::uint64_t number = 0;
    for (const Frame& frame : frames_) {
        const auto packet = parse_frame(frame.bytes);
        if (packet) checker.see(frame.time, *packet, ++number);
    }
    return checker.finish();
}

}  // namespace rocem::test
