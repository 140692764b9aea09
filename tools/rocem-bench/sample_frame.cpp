#include "sample_frame.hpp"

namespace rocem::tools {

protocol::FrameTemplate sample_template() {
    protocol::PathHeaders path;
    path.source_mac = {{2, 0, 0, 0, 0, 1}};
    path.destination_mac = {{2, 0, 0, 0, 0, 2}};
    path.source_gid = protocol::Gid::from_ipv4({{10, 0, 0, 1}});
    path.destination_gid = protocol::Gid::from_ipv4({{10, 0, 0, 2}});
    return protocol::build_template(path);
}

protocol::RocePacket sample_packet(std::span<const std::byte> payload) {
    protocol::RocePacket roce;
    roce.info = &protocol::opcode_info(protocol::Opcode::rc_rdma_write_middle);
    roce.bth.opcode = static_cast<std::uint8_t>(protocol::Opcode::rc_rdma_write_middle);
    roce.bth.dest_qp = protocol::Qpn(0x11);
    roce.payload = payload;
    return roce;
}

std::vector<std::byte> sample_frame(std::uint32_t payload_bytes) {
    const std::vector<std::byte> payload(payload_bytes, std::byte{0x5a});
    std::vector<std::byte> frame(protocol::frame_bytes_max(payload_bytes));
    frame.resize(protocol::encode_frame(sample_template(), sample_packet(payload), 1, frame));
    return frame;
}

std::size_t sample_payload_offset() {
    return sample_template().size + protocol::Bth::size;
}

}  // namespace rocem::tools
