#include "protocol/print.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "protocol/arp.hpp"
#include "protocol/icmp.hpp"
#include "protocol/ndp.hpp"
#include "protocol/syndrome.hpp"

namespace rocem::protocol {
namespace {

__attribute__((format(printf, 2, 3))) void add(std::string& line, const char* format, ...) {
    char text[160];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    line += text;
}

const char* nak_words(NakCode code) {
    switch (code) {
        case NakCode::psn_sequence_error:
            return "PSN sequence error";
        case NakCode::invalid_request:
            return "invalid request";
        case NakCode::remote_access_error:
            return "remote access error";
        case NakCode::remote_operational_error:
            return "remote operational error";
        case NakCode::invalid_rd_request:
            return "invalid RD request";
    }
    return "?";
}

void add_bth(std::string& line, const Bth& bth) {
    add(line, " qp 0x%" PRIx32 " psn 0x%" PRIx32, bth.dest_qp.value(), bth.psn.value());
    if (bth.ack_request) line += " A";
    if (bth.solicited_event) line += " SE";
    if (bth.mig_req) line += " M";
    if (bth.fecn) line += " FECN";
    if (bth.becn) line += " BECN";
    if (bth.p_key != PKey(0xffff)) add(line, " pkey 0x%04x", bth.p_key.value());
    if (bth.t_ver != 0) add(line, " tver %u", bth.t_ver);
    if (bth.resv6 != 0) add(line, " resv6 0x%x", bth.resv6);
    if (bth.resv7 != 0) add(line, " resv7 0x%x", bth.resv7);
}

// What is shown of the extended headers: whole ones inside the bytes that were parsed.
class Shown {
 public:
    explicit Shown(std::size_t bytes) : left_(bytes) {}
    bool next(bool has, std::size_t header_bytes) {
        if (!has) return false;
        const bool whole = header_bytes <= left_;
        left_ = whole ? left_ - header_bytes : 0;
        return whole;
    }

 private:
    std::size_t left_;
};

void add_atomic_eth(std::string& line, const OpcodeInfo& info, const AtomicEth& eth) {
    add(line, " va 0x%" PRIx64 " rkey 0x%" PRIx32, eth.va, eth.r_key.value());
    const bool swap = info.operation == Operation::compare_swap;
    if (swap || eth.compare != 0) add(line, " compare 0x%" PRIx64, eth.compare);
    add(line, " %s 0x%" PRIx64, swap ? "swap" : "add", eth.swap_or_add);
}

void add_extended(std::string& line, const RocePacket& roce, std::size_t extended_bytes) {
    const OpcodeInfo& info = *roce.info;
    Shown shown(extended_bytes);
    if (shown.next(info.has_xrceth, XrcEth::size)) add(line, " srqn 0x%" PRIx32, roce.xrceth.srqn.value());
    if (shown.next(info.has_deth, Deth::size)) {
        add(line, " qkey 0x%" PRIx32 " srcqp 0x%" PRIx32, roce.deth.q_key.value(), roce.deth.src_qp.value());
    }
    if (shown.next(info.has_feth, Feth::size))
        add(line, " placement %u selectivity %u", roce.feth.placement_type, roce.feth.selectivity);
    if (shown.next(info.has_reth, Reth::size)) {
        add(line, " va 0x%" PRIx64 " rkey 0x%" PRIx32 " len %" PRIu32, roce.reth.va, roce.reth.r_key.value(),
            roce.reth.dma_length);
    }
    if (shown.next(info.has_atomic_eth, AtomicEth::size)) add_atomic_eth(line, info, roce.atomic_eth);
    if (shown.next(info.has_aeth, Aeth::size)) {
        line += ' ';
        line += print_syndrome(roce.aeth.syndrome);
        add(line, " msn %" PRIu32, roce.aeth.msn.value());
    }
    if (shown.next(info.has_atomic_ack_eth, AtomicAckEth::size))
        add(line, " original 0x%" PRIx64, roce.atomic_ack_eth.original);
    if (shown.next(info.has_immdt, ImmDt::size)) add(line, " imm 0x%" PRIx32, roce.immdt.value);
    if (shown.next(info.has_ieth, Ieth::size)) add(line, " inv rkey 0x%" PRIx32, roce.ieth.r_key.value());
}

// From the service to the extended headers.
std::string print_headers(const RocePacket& roce, std::size_t extended_bytes) {
    std::string line(service_name(roce.info->service));
    if (roce.info->operation != Operation::cnp) {
        line += ' ';
        line += roce.info->name;
    }
    add_bth(line, roce.bth);
    add_extended(line, roce, extended_bytes);
    return line;
}

void add_payload(std::string& line, const RocePacket& roce, std::size_t payload_bytes) {
    if (roce.info->payload != PayloadRule::none || payload_bytes != 0)
        add(line, " payload %zu", payload_bytes);
    if (roce.bth.pad_count != 0) add(line, " pad %u", roce.bth.pad_count);
}

// A whole packet, one that the capture cut off, or as much as was understood of a refused one.
std::string print_roce(const Packet& packet) {
    const RocePacket& roce = packet.roce;
    if (packet.transport_bytes_parsed < Bth::size) return packet.kind == FrameKind::roce_v2 ? "RoCE v2" : "";
    if (roce.info == nullptr) {
        std::string line;
        add(line, "opcode 0x%02x", roce.bth.opcode);
        add_bth(line, roce.bth);
        return line;
    }
    std::string line = print_headers(roce, packet.transport_bytes_parsed - Bth::size);
    if (!packet.l3.empty()) add_payload(line, roce, wire_payload_bytes(packet));
    if (!packet.trailer.empty()) add(line, " trailer %zu", packet.trailer.size());
    return line;
}

std::string addresses(const Packet& packet) {
    if (packet.has_ipv4) return packet.ipv4.source.to_string() + " > " + packet.ipv4.destination.to_string();
    if (packet.has_ipv6) return packet.ipv6.source.to_string() + " > " + packet.ipv6.destination.to_string();
    return packet.ethernet.source.to_string() + " > " + packet.ethernet.destination.to_string();
}

std::string print_arp(const Packet& packet) {
    if (packet.body.size() < Arp::size) return "ARP, cut off";
    const auto arp = Arp::decode(packet.body.first<Arp::size>());
    if (!arp) return "ARP, not Ethernet and IPv4";
    if (arp->operation == Arp::request) {
        return "ARP who has " + arp->target_ip.to_string() + ", tell " + arp->sender_ip.to_string();
    }
    return "ARP " + arp->sender_ip.to_string() + " is at " + arp->sender_mac.to_string();
}

std::string print_icmp(const Packet& packet) {
    const bool v6 = packet.kind == FrameKind::icmpv6;
    std::string line = v6 ? "ICMPv6" : "ICMP";
    if (packet.body.size() < Icmp::size) return line + ", cut off";
    const Icmp icmp = Icmp::decode(packet.body.first<Icmp::size>());
    if (v6) {
        if (const auto ndp = Ndp::decode(packet.body)) {
            line += ndp->kind == Ndp::Kind::solicitation ? " neighbour solicitation for "
                                                         : " neighbour advertisement of ";
            line += ndp->target.to_string();
            if (ndp->link_layer_address) line += " (" + ndp->link_layer_address->to_string() + ")";
            return line;
        }
    }
    const bool request = icmp.type == (v6 ? Icmp::v6_echo_request : Icmp::v4_echo_request);
    const bool reply = icmp.type == (v6 ? Icmp::v6_echo_reply : Icmp::v4_echo_reply);
    if (request || reply) {
        add(line, " echo %s id %u seq %u", request ? "request" : "reply", icmp.identifier(), icmp.sequence());
    } else {
        add(line, " type %u code %u", icmp.type, icmp.code);
    }
    return line;
}

std::string print_other(const Packet& packet) {
    std::string line;
    if (packet.has_ipv4) {
        add(line, "IPv4 protocol %u", packet.ipv4.protocol);
    } else if (packet.has_ipv6) {
        add(line, "IPv6 next header %u", packet.ipv6.next_header);
    } else {
        const std::uint16_t type = packet.vlan_count == 0 ? packet.ethernet.ether_type
                                                          : packet.vlans[packet.vlan_count - 1u].ether_type;
        add(line, "EtherType 0x%04x", type);
    }
    add(line, " %zu bytes", packet.frame.size());
    return line;
}

}  // namespace

std::string print_syndrome(std::uint8_t raw) {
    const Syndrome syndrome(raw);
    std::string line;
    switch (syndrome.kind()) {
        case Syndrome::Kind::ack:
            if (const auto credits = credits_of_code(syndrome.code())) {
                add(line, "ACK credits %" PRIu32, *credits);
            } else {
                line = "ACK credits unlimited";
            }
            break;
        case Syndrome::Kind::rnr_nak:
            add(line, "RNR NAK timer %.2f ms", static_cast<double>(rnr_timer(syndrome.code()).count()) / 1e6);
            break;
        case Syndrome::Kind::nak:
            if (const auto code = syndrome.nak_code()) {
                add(line, "NAK %s", nak_words(*code));
                break;
            }
            [[fallthrough]];
        case Syndrome::Kind::reserved:
            add(line, "reserved syndrome 0x%02x", raw);
            break;
    }
    return line;
}

std::string print(const RocePacket& roce) {
    std::string line = print_headers(roce, roce.info->extended_header_bytes);
    add_payload(line, roce, roce.payload.size());
    return line;
}

std::string print(const Packet& packet) {
    std::string line = addresses(packet) + ' ';
    for (std::size_t i = 0; i < packet.vlan_count; ++i)
        add(line, "vlan %u ", packet.vlans[i].vid);
    switch (packet.kind) {
        case FrameKind::roce_v1:
            line += "RoCE v1 ";
            [[fallthrough]];
        case FrameKind::roce_v2: {
            constexpr unsigned ecn_congestion_experienced = 3;
            if ((traffic_class(packet) & 3u) == ecn_congestion_experienced) line += "CE ";
            line += print_roce(packet);
            break;
        }
        case FrameKind::arp:
            line += print_arp(packet);
            break;
        case FrameKind::icmp:
        case FrameKind::icmpv6:
            line += print_icmp(packet);
            break;
        case FrameKind::other:
            line += print_other(packet);
            break;
    }
    if (packet.truncated) line += ", truncated";
    return line;
}

}  // namespace rocem::protocol
