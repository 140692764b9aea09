#include "protocol/encode.hpp"

#include <algorithm>
#include <cstring>

namespace rocem::protocol {
namespace {

struct Writer {
    std::span<std::byte> out;
    std::size_t at = 0;

    template <class Header>
    void put(const Header& header) {
        header.encode(out.subspan(at).template first<Header::size>());
        at += Header::size;
    }
    void put_bytes(std::span<const std::byte> bytes) {
        if (!bytes.empty()) std::memcpy(&out[at], bytes.data(), bytes.size());
        at += bytes.size();
    }
};

void put_transport(Writer& writer, const RocePacket& roce) {
    const OpcodeInfo& info = *roce.info;
    writer.put(roce.bth);
    if (info.has_xrceth) writer.put(roce.xrceth);
    if (info.has_deth) writer.put(roce.deth);
    if (info.has_feth) writer.put(roce.feth);
    if (info.has_reth) writer.put(roce.reth);
    if (info.has_atomic_eth) writer.put(roce.atomic_eth);
    if (info.has_aeth) writer.put(roce.aeth);
    if (info.has_atomic_ack_eth) writer.put(roce.atomic_ack_eth);
    if (info.has_immdt) writer.put(roce.immdt);
    if (info.has_ieth) writer.put(roce.ieth);
    if (info.operation == Operation::cnp) writer.put(roce.cnp);
}

}  // namespace

std::size_t encode_transport(const RocePacket& roce, std::span<std::byte> out) {
    Writer writer{out};
    put_transport(writer, roce);
    return writer.at;
}

std::size_t encode_frame(const FrameTemplate& frame_template, const RocePacket& roce,
                         std::uint16_t ipv4_identification, std::span<std::byte> out) {
    const std::size_t pad = roce.bth.pad_count;
    const std::size_t transport = transport_header_bytes(*roce.info) + roce.payload.size() + pad + icrc_bytes;
    const std::size_t length = frame_template.size + transport;
    if (length > out.size()) return 0;
    const std::span<std::byte> frame = out.first(length);
    Writer writer{frame, write_headers(frame_template, frame, transport, ipv4_identification)};
    put_transport(writer, roce);
    writer.put_bytes(roce.payload);
    std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(writer.at), pad, std::byte{0});
    seal_icrc(frame, frame_template.l3_offset);
    return length;
}

std::size_t re_encode(const Packet& packet, std::span<std::byte> out) {
    Writer writer{out};
    writer.put(packet.ethernet);
    for (std::size_t i = 0; i < packet.vlan_count; ++i)
        writer.put(packet.vlans[i]);
    if (packet.has_ipv4) writer.put(packet.ipv4);
    if (packet.has_ipv6) writer.put(packet.ipv6);
    if (packet.kind == FrameKind::roce_v2) writer.put(packet.udp);
    put_transport(writer, packet.roce);
    writer.put_bytes(packet.roce.payload);
    writer.put_bytes(packet.pad);
    writer.put_bytes(packet.icrc);
    writer.put_bytes(packet.trailer);
    return writer.at;
}

}  // namespace rocem::protocol
