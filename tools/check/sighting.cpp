#include "tools/check/sighting.hpp"

#include <cstring>

#include "protocol/icrc.hpp"

namespace rocem::tools {
namespace {

// What of the packet was cut off by the capture cannot be checked and is taken for right.
bool is_intact(const protocol::Packet& packet) {
    if (packet.roce.bth.t_ver != 0) return false;
    if (packet.truncated || !packet.icrc_present) return true;
    if (!protocol::icrc_is_right(packet.l3)) return false;
    return packet.kind != protocol::FrameKind::roce_v2 || packet.udp.checksum == 0 ||
           protocol::udp_checksum_is_right(packet);
}

std::uint32_t fingerprint_of(const protocol::Packet& packet) {
    if (!packet.icrc_present || packet.truncated) return protocol::crc32(0, packet.l3);
    std::uint32_t value = 0;
    std::memcpy(&value, packet.icrc.data(), sizeof value);
    return value;
}

}  // namespace

Sighting Sighting::of(const protocol::Packet& packet, std::chrono::nanoseconds time, std::uint64_t number,
                      std::uint64_t order) {
    const protocol::RocePacket& roce = packet.roce;
    Sighting sighting;
    sighting.time = time;
    sighting.number = number;
    sighting.order = order;
    sighting.info = roce.info;
    sighting.psn = roce.bth.psn;
    sighting.ack_request = roce.bth.ack_request;
    sighting.intact = is_intact(packet);
    sighting.payload_bytes = static_cast<std::uint32_t>(protocol::wire_payload_bytes(packet));
    sighting.reth = roce.reth;
    sighting.atomic = roce.atomic_eth;
    sighting.aeth = roce.aeth;
    sighting.original = roce.atomic_ack_eth.original;
    sighting.fingerprint = fingerprint_of(packet);
    sighting.source_port = packet.udp.source_port;
    return sighting;
}

}  // namespace rocem::tools
