// Frames for tests of parse_frame and accept: right in every field, until a test changes one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/checksum.hpp"
#include "protocol/encode.hpp"
#include "tests/unit/protocol/bytes.hpp"

namespace rocem::test {

// Offsets in a frame over IPv4 without a VLAN tag.
inline constexpr std::size_t ip_at = 14;
inline constexpr std::size_t udp_at = 34;
inline constexpr std::size_t bth_at = 42;

inline protocol::PathHeaders test_path() {
    protocol::PathHeaders path;
    path.source_mac = *protocol::MacAddress::from_string("02:00:00:00:00:01");
    path.destination_mac = *protocol::MacAddress::from_string("02:00:00:00:00:02");
    path.source_gid = *protocol::Gid::from_string("10.0.0.1");
    path.destination_gid = *protocol::Gid::from_string("10.0.0.2");
    return path;
}

inline Bytes make_padded_frame(protocol::Opcode opcode, std::size_t payload_bytes, unsigned pad_bytes,
                               const protocol::PathHeaders& path = test_path()) {
    const Bytes payload(payload_bytes, std::byte{0x77});
    protocol::RocePacket roce;
    roce.info = &protocol::opcode_info(opcode);
    roce.bth.opcode = static_cast<std::uint8_t>(opcode);
    roce.bth.pad_count = static_cast<std::uint8_t>(pad_bytes);
    roce.bth.dest_qp = protocol::Qpn(0x11);
    roce.bth.psn = protocol::Psn(0xfffffe);
    roce.reth = {0x1000, protocol::RKey(0x1234), static_cast<std::uint32_t>(payload_bytes)};
    roce.payload = payload;
    Bytes frame(protocol::frame_bytes_max(payload_bytes + 4));
    frame.resize(protocol::encode_frame(protocol::build_template(path), roce, 1, frame));
    return frame;
}

inline Bytes make_frame(protocol::Opcode opcode, std::size_t payload_bytes,
                        const protocol::PathHeaders& path = test_path()) {
    return make_padded_frame(opcode, payload_bytes, protocol::PadCount::for_length(payload_bytes).value(),
                             path);
}

// Puts back what a change of IPv4 fields and of the transport made wrong: header checksum and ICRC.
inline void mend(Bytes& frame) {
    const auto header = std::span(frame).subspan(ip_at, protocol::Ipv4::size);
    header[10] = header[11] = std::byte{0};
    const std::uint16_t checksum = protocol::checksum_finish(protocol::checksum_add(0, header));
    header[10] = static_cast<std::byte>(checksum >> 8);
    header[11] = static_cast<std::byte>(checksum);
    protocol::seal_icrc(frame, ip_at);
}

}  // namespace rocem::test
