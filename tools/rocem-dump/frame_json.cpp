#include "tools/rocem-dump/frame_json.hpp"

#include <algorithm>

#include "protocol/arp.hpp"
#include "protocol/icmp.hpp"
#include "protocol/print.hpp"

namespace rocem::tools {
namespace {

using Json = nlohmann::ordered_json;
using namespace protocol;

Json ethernet_json(const Ethernet& header) {
    return {{"source", header.source.to_string()},
            {"destination", header.destination.to_string()},
            {"ether_type", header.ether_type}};
}

Json vlans_json(const Packet& packet) {
    Json tags = Json::array();
    for (std::size_t i = 0; i < packet.vlan_count; ++i) {
        const Vlan& tag = packet.vlans[i];
        tags.push_back(
            {{"pcp", tag.pcp}, {"dei", tag.dei}, {"vid", tag.vid}, {"ether_type", tag.ether_type}});
    }
    return tags;
}

Json ipv4_json(const Inspection& inspection) {
    const Ipv4& header = inspection.packet.ipv4;
    Json json = {{"source", header.source.to_string()},
                 {"destination", header.destination.to_string()},
                 {"version", header.version},
                 {"ihl", header.ihl},
                 {"tos", header.tos},
                 {"total_length", header.total_length},
                 {"identification", header.identification},
                 {"reserved_flag", header.reserved_flag},
                 {"dont_fragment", header.dont_fragment},
                 {"more_fragments", header.more_fragments},
                 {"fragment_offset", header.fragment_offset},
                 {"ttl", header.ttl},
                 {"protocol", header.protocol},
                 {"header_checksum", header.header_checksum}};
    if (inspection.ipv4_checksum_right) json["header_checksum_right"] = *inspection.ipv4_checksum_right;
    return json;
}

Json ipv6_json(const Ipv6& header) {
    return {{"source", header.source.to_string()}, {"destination", header.destination.to_string()},
            {"version", header.version},           {"traffic_class", header.traffic_class},
            {"flow_label", header.flow_label},     {"payload_length", header.payload_length},
            {"next_header", header.next_header},   {"hop_limit", header.hop_limit}};
}

Json udp_json(const Inspection& inspection) {
    const Udp& header = inspection.packet.udp;
    Json json = {{"source_port", header.source_port},
                 {"destination_port", header.destination_port},
                 {"length", header.length},
                 {"checksum", header.checksum}};
    if (inspection.udp_checksum_right) json["checksum_right"] = *inspection.udp_checksum_right;
    return json;
}

Json bth_json(const Bth& bth) {
    return {{"opcode", bth.opcode},
            {"solicited_event", bth.solicited_event},
            {"mig_req", bth.mig_req},
            {"pad_count", bth.pad_count},
            {"t_ver", bth.t_ver},
            {"p_key", bth.p_key.value()},
            {"fecn", bth.fecn},
            {"becn", bth.becn},
            {"resv6", bth.resv6},
            {"dest_qp", bth.dest_qp.value()},
            {"ack_request", bth.ack_request},
            {"resv7", bth.resv7},
            {"psn", bth.psn.value()}};
}

std::string opcode_name(const OpcodeInfo& info) {
    if (info.operation == Operation::cnp) return "CNP";
    return std::string(service_name(info.service)) + "_" + std::string(info.name);
}

// The extended headers in the order of the wire, as far as they were parsed.
void add_extended_headers(Json& json, const RocePacket& roce, std::size_t bytes) {
    const OpcodeInfo& info = *roce.info;
    const auto add = [&json, &bytes](bool has, const char* key, std::size_t size, const auto& make) {
        if (!has) return;
        const bool whole = size <= bytes;
        bytes = whole ? bytes - size : 0;
        if (whole) json[key] = make();
    };
    add(info.has_xrceth, "xrceth", XrcEth::size, [&roce] {
        return Json{{"resv8", roce.xrceth.resv8}, {"srqn", roce.xrceth.srqn.value()}};
    });
    add(info.has_deth, "deth", Deth::size, [&roce] {
        return Json{{"q_key", roce.deth.q_key.value()},
                    {"resv8", roce.deth.resv8},
                    {"src_qp", roce.deth.src_qp.value()}};
    });
    add(info.has_feth, "feth", Feth::size, [&roce] {
        return Json{{"placement_type", roce.feth.placement_type},
                    {"selectivity", roce.feth.selectivity},
                    {"resv", roce.feth.resv}};
    });
    add(info.has_reth, "reth", Reth::size, [&roce] {
        return Json{
            {"va", roce.reth.va}, {"r_key", roce.reth.r_key.value()}, {"dma_length", roce.reth.dma_length}};
    });
    add(info.has_atomic_eth, "atomic_eth", AtomicEth::size, [&roce] {
        return Json{{"va", roce.atomic_eth.va},
                    {"r_key", roce.atomic_eth.r_key.value()},
                    {"swap_or_add", roce.atomic_eth.swap_or_add},
                    {"compare", roce.atomic_eth.compare}};
    });
    add(info.has_aeth, "aeth", Aeth::size, [&roce] {
        return Json{{"syndrome", roce.aeth.syndrome},
                    {"meaning", print_syndrome(roce.aeth.syndrome)},
                    {"msn", roce.aeth.msn.value()}};
    });
    add(info.has_atomic_ack_eth, "atomic_ack_eth", AtomicAckEth::size, [&roce] {
        return Json{{"original", roce.atomic_ack_eth.original}};
    });
    add(info.has_immdt, "immdt", ImmDt::size, [&roce] { return Json{{"value", roce.immdt.value}}; });
    add(info.has_ieth, "ieth", Ieth::size, [&roce] { return Json{{"r_key", roce.ieth.r_key.value()}}; });
}

void add_roce(Json& json, const Inspection& inspection) {
    const Packet& packet = inspection.packet;
    if (packet.transport_bytes_parsed >= Bth::size) {
        json["bth"] = bth_json(packet.roce.bth);
        if (packet.roce.info != nullptr) {
            json["opcode_name"] = opcode_name(*packet.roce.info);
            add_extended_headers(json, packet.roce, packet.transport_bytes_parsed - Bth::size);
        }
    }
    if (!inspection.refused) {
        json["payload_bytes"] = wire_payload_bytes(packet);
        if (packet.roce.payload.size() != wire_payload_bytes(packet))
            json["payload_bytes_captured"] = packet.roce.payload.size();
        json["pad_is_zero"] = std::all_of(packet.pad.begin(), packet.pad.end(),
                                          [](std::byte byte) { return byte == std::byte{0}; });
        json["trailer_bytes"] = packet.trailer.size();
    }
    json["icrc"] = icrc_verdict_word(inspection.icrc);
    if (packet.icrc_present && !inspection.refused) json["icrc_bytes"] = icrc_on_the_wire(packet);
    if (inspection.icrc == IcrcVerdict::bad)
        json["icrc_computed"] = icrc_on_the_wire(inspection.computed_icrc);
}

Json arp_json(const Packet& packet) {
    if (packet.body.size() < Arp::size) return nullptr;
    const auto arp = Arp::decode(packet.body.first<Arp::size>());
    if (!arp) return nullptr;
    return {{"operation", arp->operation},
            {"sender_mac", arp->sender_mac.to_string()},
            {"sender_ip", arp->sender_ip.to_string()},
            {"target_mac", arp->target_mac.to_string()},
            {"target_ip", arp->target_ip.to_string()}};
}

Json icmp_json(const Packet& packet) {
    if (packet.body.size() < Icmp::size) return nullptr;
    const Icmp icmp = Icmp::decode(packet.body.first<Icmp::size>());
    return {{"type", icmp.type}, {"code", icmp.code}, {"checksum", icmp.checksum}, {"rest", icmp.rest}};
}

const char* kind_word(FrameKind kind) {
    switch (kind) {
        case FrameKind::roce_v2:
            return "roce_v2";
        case FrameKind::roce_v1:
            return "roce_v1";
        case FrameKind::arp:
            return "arp";
        case FrameKind::icmp:
            return "icmp";
        case FrameKind::icmpv6:
            return "icmpv6";
        case FrameKind::other:
            return "other";
    }
    return "";
}

}  // namespace

Json frame_json(const Inspection& inspection) {
    const Packet& packet = inspection.packet;
    Json json;
    json["kind"] = kind_word(packet.kind);
    json["captured_bytes"] = packet.frame.size();
    json["truncated"] = inspection.cut_by_capture;
    if (inspection.refused) json["malformed"] = drop_reason_name(*inspection.refused);
    if (packet.frame.size() >= Ethernet::size) json["ethernet"] = ethernet_json(packet.ethernet);
    if (packet.vlan_count != 0) json["vlans"] = vlans_json(packet);
    if (packet.has_ipv4) json["ipv4"] = ipv4_json(inspection);
    if (packet.has_ipv6) json[packet.kind == FrameKind::roce_v1 ? "grh" : "ipv6"] = ipv6_json(packet.ipv6);
    if (packet.kind == FrameKind::roce_v2 && packet.udp.length != 0) json["udp"] = udp_json(inspection);
    if (packet.is_roce()) add_roce(json, inspection);
    if (packet.kind == FrameKind::arp) json["arp"] = arp_json(packet);
    if (packet.kind == FrameKind::icmp || packet.kind == FrameKind::icmpv6) json["icmp"] = icmp_json(packet);
    json["line"] = describe(inspection);
    return json;
}

}  // namespace rocem::tools
