#include "tests/unit/replay/frames.hpp"

#include "protocol/icrc.hpp"

namespace rocem::test {
namespace {

constexpr std::size_t udp_bytes = 8;
constexpr std::size_t bth_bytes = 12;
constexpr std::size_t psn_last_byte = 11;

tools::Capture copy_with(const tools::Capture& capture, std::size_t skipped, std::vector<std::byte> bytes) {
    tools::Capture copy;
    for (std::size_t i = 0; i < capture.size(); ++i) {
        if (i != skipped) {
            tools::append_frame(copy, capture[i].bytes, capture[i].since_start, capture[i].original_bytes);
        } else if (!bytes.empty()) {
            tools::append_frame(copy, bytes, capture[i].since_start);
        }
    }
    return copy;
}

}  // namespace

Address requester_address() {
    return {{2, 0, 0, 0, 0, 1}, {10, 0, 0, 1}};
}

Address responder_address() {
    return {{2, 0, 0, 0, 0, 2}, {10, 0, 0, 2}};
}

CaptureBuilder& CaptureBuilder::request(RocePacket packet) {
    if (packet.dest_qpn == 0) packet.dest_qpn = responder_qpn;
    return frame(write_frame(packet, requester_address(), responder_address()));
}

CaptureBuilder& CaptureBuilder::answer(RocePacket packet) {
    if (packet.dest_qpn == 0) packet.dest_qpn = requester_qpn;
    return frame(write_frame(packet, responder_address(), requester_address()));
}

CaptureBuilder& CaptureBuilder::frame(std::vector<std::byte> bytes, std::size_t kept_bytes) {
    Kept kept{std::move(bytes), 0};
    kept.original_bytes = kept.bytes.size();
    if (kept_bytes != 0) kept.bytes.resize(kept_bytes);
    frames_.push_back(std::move(kept));
    return *this;
}

tools::Capture CaptureBuilder::build() {
    tools::Capture capture;
    for (const Kept& kept : frames_) {
        tools::append_frame(capture, kept.bytes, std::chrono::milliseconds(capture.size()),
                            kept.original_bytes);
    }
    return capture;
}

RocePacket send_only(std::uint32_t psn, std::size_t payload) {
    RocePacket packet;
    packet.opcode = Op::send_only;
    packet.psn = psn;
    packet.ack_request = true;
    packet.payload.assign(payload, std::byte{0x5e});
    packet.pad_count = static_cast<std::uint8_t>((4 - payload % 4) % 4);
    return packet;
}

RocePacket write_only(std::uint32_t psn, std::uint64_t va, std::vector<std::byte> payload) {
    RocePacket packet = send_only(psn, payload.size());
    packet.opcode = Op::write_only;
    packet.va = va;
    packet.r_key = test_r_key;
    packet.dma_length = static_cast<std::uint32_t>(payload.size());
    packet.payload = std::move(payload);
    return packet;
}

RocePacket read_request(std::uint32_t psn, std::uint64_t va, std::uint32_t length) {
    RocePacket packet;
    packet.opcode = Op::read_request;
    packet.psn = psn;
    packet.ack_request = true;
    packet.va = va;
    packet.r_key = test_r_key;
    packet.dma_length = length;
    return packet;
}

RocePacket ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome) {
    RocePacket packet;
    packet.opcode = Op::acknowledge;
    packet.psn = psn;
    packet.msn = msn;
    packet.syndrome = syndrome;
    return packet;
}

bool has_part(const tools::ReplayFrame& frame, Alteration alteration) {
    switch (alteration) {
        case Alteration::psn:
            return true;
        case Alteration::syndrome:
        case Alteration::msn:
            return frame.packet.roce.info->has_aeth;
        case Alteration::payload:
            return !frame.packet.roce.payload.empty() || frame.packet.roce.info->has_atomic_ack_eth;
    }
    return false;
}

std::vector<std::byte> altered(const tools::ReplayFrame& frame, Alteration alteration) {
    const protocol::Packet& packet = frame.packet;
    const auto l3 = static_cast<std::size_t>(packet.l3.data() - packet.frame.data());
    const std::size_t bth = l3 + (packet.has_ipv4 ? 20 : 40) + udp_bytes;
    std::size_t at = bth + psn_last_byte;
    std::byte change{0x04};
    if (alteration == Alteration::syndrome) {
        // An ACK becomes a NAK for an invalid request, a NAK another one, an RNR NAK a later timer.
        at = bth + bth_bytes;
        const std::uint8_t syndrome = packet.roce.aeth.syndrome;
        change = syndrome >= syndrome_rnr ? std::byte{0x03} : std::byte(syndrome ^ syndrome_invalid_request);
    }
    if (alteration == Alteration::msn) at = bth + bth_bytes + 3;
    if (alteration == Alteration::payload) at = bth + bth_bytes + packet.roce.info->extended_header_bytes;
    if (alteration == Alteration::payload && packet.roce.info->has_atomic_ack_eth) at -= 1;
    std::vector<std::byte> bytes(frame.bytes.begin(),
                                 frame.bytes.begin() + static_cast<std::ptrdiff_t>(l3 + packet.l3.size()));
    bytes[at] ^= change;
    protocol::seal_icrc(bytes, l3);
    return bytes;
}

tools::Capture copy_of(const tools::Capture& capture) {
    return copy_with(capture, capture.size(), {});
}

tools::Capture with_frame(const tools::Capture& capture, std::size_t index, std::vector<std::byte> bytes) {
    return copy_with(capture, index, std::move(bytes));
}

tools::Capture without_frame(const tools::Capture& capture, std::size_t index) {
    return copy_with(capture, index, {});
}

}  // namespace rocem::test
