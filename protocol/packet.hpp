// Frames as values. parse_frame takes a frame apart and keeps every bit; accept judges it (rocev2 5.7, steps
// 0-3, 8, 9).
//
// The split: parse_frame refuses only what cannot be taken apart (a header cut off, lengths that contradict
// each other, a reserved opcode). Wrong checksums, versions, pads and addresses are kept, so that tools show
// and re-encode them exactly; they are accept's business. Checks that need a queue pair (steps 4-7) are the
// engine's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tl/expected.hpp>

#include "protocol/aeth.hpp"
#include "protocol/atomic_eth.hpp"
#include "protocol/bth.hpp"
#include "protocol/cnp.hpp"
#include "protocol/deth.hpp"
#include "protocol/drop_reason.hpp"
#include "protocol/ethernet.hpp"
#include "protocol/feth.hpp"
#include "protocol/icrc.hpp"
#include "protocol/ids.hpp"
#include "protocol/ieth.hpp"
#include "protocol/immdt.hpp"
#include "protocol/ipv4.hpp"
#include "protocol/ipv6.hpp"
#include "protocol/opcode.hpp"
#include "protocol/reth.hpp"
#include "protocol/udp.hpp"
#include "protocol/units.hpp"
#include "protocol/xrceth.hpp"

namespace rocem::protocol {

// The transport part. A header is valid if info says that the opcode has it.
struct RocePacket {
    const OpcodeInfo* info = nullptr;  // never null in a parsed packet
    Bth bth;
    XrcEth xrceth;
    Deth deth;
    Feth feth;
    Reth reth;
    AtomicEth atomic_eth;
    Aeth aeth;
    AtomicAckEth atomic_ack_eth;
    ImmDt immdt;
    Ieth ieth;
    Cnp cnp;
    std::span<const std::byte> payload;  // without pad
};

enum class FrameKind : std::uint8_t {
    roce_v2,
    roce_v1,
    arp,     // body: the ARP message
    icmp,    // body: the ICMP message
    icmpv6,  // body: the ICMPv6 message
    other,   // body: whatever follows the last header understood
};

struct Packet {
    FrameKind kind = FrameKind::other;
    std::uint8_t vlan_count = 0;
    bool has_ipv4 = false;
    bool has_ipv6 = false;   // IPv6, or the GRH of RoCE v1
    bool truncated = false;  // the capture ends inside the packet: its last parts may be missing
    bool icrc_present = false;
    std::uint8_t transport_bytes_parsed = 0;  // BTH and extended headers in roce; fewer than the opcode has
                                              // only if truncated or refused
    Ethernet ethernet;
    std::array<Vlan, 2> vlans;
    Ipv4 ipv4;
    Ipv6 ipv6;
    Udp udp;                                   // roce_v2
    RocePacket roce;                           // roce_v2, roce_v1
    std::span<const std::byte> frame;          // all of it
    std::span<const std::byte> l3;             // roce: from the network header to the ICRC
    std::span<const std::byte> pad;            // roce: the pad bytes, zero from an honest sender
    std::span<const std::byte> body;           // not roce
    std::span<const std::byte> trailer;        // behind the network layer's end (Ethernet padding)
    std::array<std::byte, icrc_bytes> icrc{};  // as it stands on the wire

    bool is_roce() const { return kind == FrameKind::roce_v2 || kind == FrameKind::roce_v1; }
};

// original_bytes: what the frame had on the wire, where a capture kept less (0: all of it is here). A RoCE
// packet that is cut off behind its BTH is parsed as far as it goes, and marked truncated.
tl::expected<Packet, DropReason> parse_frame(std::span<const std::byte> frame,
                                             std::size_t original_bytes = 0);

// The same for tools that also show what is refused: packet (a fresh one) keeps what was understood before
// that. kind says roce_v2 as soon as the UDP port does, roce.info is null until the opcode is known.
tl::expected<void, DropReason> parse_frame_into(Packet& packet, std::span<const std::byte> frame,
                                                std::size_t original_bytes = 0);

// Writes a parsed RoCE frame that was not truncated: byte for byte what was parsed. Returns the length; out
// must hold packet.frame.size() bytes.
std::size_t re_encode(const Packet& packet, std::span<std::byte> out);

// Source and destination address as GIDs (IPv4 mapped).
Gid source_gid(const Packet& packet);
Gid destination_gid(const Packet& packet);
// ToS or traffic class: DSCP(6) | ECN(2).
std::uint8_t traffic_class(const Packet& packet);
// Bytes behind the IPv4 header (a parsed RoCE packet has no options), the IPv6 header or the GRH, by its own
// length field. It is this length that places the ICRC; what the UDP header says is accept's business.
std::size_t network_payload_bytes(const Packet& packet);
// Payload bytes that a parsed RoCE packet had on the wire; more than payload.size() if truncated.
std::size_t wire_payload_bytes(const Packet& packet);

// Of a RoCE v2 packet that was not truncated and has a checksum.
bool udp_checksum_is_right(const Packet& packet);

// What a NIC accepts.
struct ReceiveContext {
    MacAddress mac;
    std::span<const Gid> gids;              // the GID table; all-zero entries are empty
    std::span<const Gid> multicast_groups;  // joined
    bool ignore_udp_checksum = false;
};

// Nothing for a packet that may go to its queue pair, or why not. The ICRC is looked at last: before it,
// nothing may change.
struct Verdict {
    bool accepted = true;
    DropReason reason{};
};
Verdict accept(const Packet& packet, const ReceiveContext& context);

// Bits of the multicast MAC address that belong to a group (RFC 1112 6.4, RFC 2464 7).
MacAddress multicast_mac(const Gid& group);

}  // namespace rocem::protocol
