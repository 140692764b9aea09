#include "daemon/nic/neighbours.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/nic/neighbour_frames.hpp"
#include "protocol/arp.hpp"
#include "protocol/checksum.hpp"
#include "protocol/icmp.hpp"
#include "protocol/ndp.hpp"

namespace rocem::daemon {
namespace {

using protocol::Gid;
using protocol::MacAddress;

bool same_prefix(const Gid& a, const config::InterfaceAddress& b) {
    if (a.is_ipv4_mapped() != b.gid.is_ipv4_mapped()) return false;
    const unsigned bits = b.prefix_length + (a.is_ipv4_mapped() ? 96u : 0u);
    for (unsigned i = 0; i < bits / 8; ++i) {
        if (a.bytes[i] != b.gid.bytes[i]) return false;
    }
    const unsigned rest = bits % 8;
    return rest == 0 || ((a.bytes[bits / 8] ^ b.gid.bytes[bits / 8]) >> (8 - rest)) == 0;
}

bool is_link_local(const Gid& gid) {
    return !gid.is_ipv4_mapped() && gid.as_ipv6().is_link_local();
}

bool usable(const MacAddress& mac) {
    return !mac.is_multicast() && !mac.is_zero();
}

}  // namespace

Neighbours::Neighbours(const NeighbourSettings& settings) : settings_(settings) {}

bool Neighbours::is_own(const Gid& gid) const {
    return std::any_of(settings_.addresses.begin(), settings_.addresses.end(),
                       [&gid](const config::InterfaceAddress& own) { return own.gid == gid; });
}

std::optional<Gid> Neighbours::next_hop(const Gid& destination) const {
    const bool on_link = std::any_of(settings_.addresses.begin(), settings_.addresses.end(),
                                     [&](const auto& own) { return same_prefix(destination, own); });
    if (on_link || is_link_local(destination)) return destination;
    return destination.is_ipv4_mapped() ? settings_.gateway_v4 : settings_.gateway_v6;
}

std::uint64_t Neighbours::post_resolve(engine::Time now, const Gid& destination) {
    const std::uint64_t id = ++last_id_;
    if (is_own(destination)) {
        finish(id, settings_.mac, ResolveError::none);
        return id;
    }
    if (destination.is_multicast()) {
        finish(id, protocol::multicast_mac(destination), ResolveError::none);
        return id;
    }
    const std::optional<Gid> hop = destination.is_zero() ? std::nullopt : next_hop(destination);
    if (!hop || (!neighbours_.contains(*hop) && neighbours_.size() >= neighbours_max)) {
        finish(id, {}, ResolveError::host_unreachable);
        return id;
    }
    Neighbour& neighbour = neighbours_[*hop];
    if (neighbour.mac) {
        finish(id, *neighbour.mac, ResolveError::none);
        return id;
    }
    neighbour.waiting.push_back(id);
    if (neighbour.waiting.size() == 1) ask(now, *hop, neighbour);
    return id;
}

void Neighbours::finish(std::uint64_t id, const MacAddress& mac, ResolveError error) {
    resolved_.push_back({id, mac, error});
}

std::optional<Gid> Neighbours::source_for(const Gid& destination) const {
    std::optional<Gid> any;
    for (const config::InterfaceAddress& own : settings_.addresses) {
        if (own.gid.is_ipv4_mapped() != destination.is_ipv4_mapped()) continue;
        if (same_prefix(destination, own)) return own.gid;
        if (!any) any = own.gid;
    }
    return any;
}

void Neighbours::ask(engine::Time now, const Gid& hop, Neighbour& neighbour) {
    ++neighbour.asks;
    neighbour.deadline = now + ask_interval;
    const std::optional<Gid> source = source_for(hop);
    if (!source) return;
    if (hop.is_ipv4_mapped()) {
        protocol::Arp arp;
        arp.operation = protocol::Arp::request;
        arp.sender_mac = settings_.mac;
        arp.sender_ip = source->as_ipv4();
        arp.target_ip = hop.as_ipv4();
        send(arp_frame(settings_.mac, neighbour.mac.value_or(MacAddress::broadcast()), arp));
    } else {
        protocol::Ndp solicitation;
        solicitation.kind = protocol::Ndp::Kind::solicitation;
        solicitation.target = hop.as_ipv6();
        solicitation.link_layer_address = settings_.mac;
        const protocol::Ipv6Address group = hop.as_ipv6().solicited_node();
        send(ndp_frame(settings_.mac, protocol::multicast_mac(Gid::from_ipv6(group)), source->as_ipv6(),
                       group, solicitation));
    }
}

bool Neighbours::handle_packet(engine::Time now, const protocol::Packet& packet) {
    const MacAddress& to = packet.ethernet.destination;
    const bool for_us = to == settings_.mac || to.is_multicast();
    switch (packet.kind) {
        case protocol::FrameKind::arp:
            if (for_us) handle_arp(now, packet);
            return true;
        case protocol::FrameKind::icmp:
            if (for_us && !packet.truncated) handle_icmp(packet);
            return true;
        case protocol::FrameKind::icmpv6:
            if (for_us && !packet.truncated) handle_icmpv6(now, packet);
            return true;
        default:
            return false;
    }
}

void Neighbours::handle_arp(engine::Time now, const protocol::Packet& packet) {
    if (packet.body.size() < protocol::Arp::size) return;
    const auto arp = protocol::Arp::decode(packet.body.first<protocol::Arp::size>());
    if (!arp || !usable(arp->sender_mac)) return;
    const Gid sender = Gid::from_ipv4(arp->sender_ip);
    if (is_own(sender)) return;  // somebody claims our address
    learn(now, sender, arp->sender_mac);
    if (arp->operation != protocol::Arp::request || !is_own(Gid::from_ipv4(arp->target_ip))) return;
    protocol::Arp reply;
    reply.operation = protocol::Arp::reply;
    reply.sender_mac = settings_.mac;
    reply.sender_ip = arp->target_ip;
    reply.target_mac = arp->sender_mac;
    reply.target_ip = arp->sender_ip;
    send(arp_frame(settings_.mac, arp->sender_mac, reply));
}

void Neighbours::handle_icmp(const protocol::Packet& packet) {
    if (packet.body.size() < protocol::Icmp::size || packet.ipv4.more_fragments ||
        packet.ipv4.fragment_offset != 0)
        return;
    const protocol::Icmp icmp = protocol::Icmp::decode(packet.body.first<protocol::Icmp::size>());
    const bool right = packet.ipv4.header_checksum == packet.ipv4.computed_checksum() &&
                       protocol::checksum_finish(protocol::checksum_add(0, packet.body)) == 0;
    if (!right || icmp.type != protocol::Icmp::v4_echo_request || icmp.code != 0) return;
    if (!is_own(Gid::from_ipv4(packet.ipv4.destination)) || !usable(packet.ethernet.source)) return;
    send(echo_reply_v4(settings_.mac, packet));
}

void Neighbours::handle_icmpv6(engine::Time now, const protocol::Packet& packet) {
    if (packet.body.size() < protocol::Icmp::size) return;
    const std::uint32_t pseudo =
        protocol::pseudo_header_sum(packet.ipv6.source, packet.ipv6.destination, protocol::ip_protocol_icmpv6,
                                    static_cast<std::uint32_t>(packet.body.size()));
    if (protocol::checksum_finish(protocol::checksum_add(pseudo, packet.body)) != 0) return;
    const protocol::Icmp icmp = protocol::Icmp::decode(packet.body.first<protocol::Icmp::size>());
    switch (icmp.type) {
        case protocol::Icmp::v6_neighbor_solicitation:
            handle_solicitation(now, packet);
            break;
        case protocol::Icmp::v6_neighbor_advertisement: {
            const auto ndp = protocol::Ndp::decode(packet.body);
            // RFC 4861 7.1.2: only from this link, which a hop limit of 255 proves.
            if (!ndp || packet.ipv6.hop_limit != 255) break;
            const Gid target = Gid::from_ipv6(ndp->target);
            if (!is_own(target)) learn(now, target, ndp->link_layer_address.value_or(packet.ethernet.source));
            break;
        }
        case protocol::Icmp::v6_echo_request:
            if (is_own(Gid::from_ipv6(packet.ipv6.destination)) && !packet.ipv6.source.is_multicast() &&
                !packet.ipv6.source.is_zero() && usable(packet.ethernet.source)) {
                send(echo_reply_v6(settings_.mac, packet));
            }
            break;
        default:
            break;
    }
}

void Neighbours::handle_solicitation(engine::Time now, const protocol::Packet& packet) {
    const auto ndp = protocol::Ndp::decode(packet.body);
    if (!ndp || packet.ipv6.hop_limit != 255 || !is_own(Gid::from_ipv6(ndp->target))) return;
    const protocol::Ipv6Address& asker = packet.ipv6.source;
    protocol::Ndp reply;
    reply.kind = protocol::Ndp::Kind::advertisement;
    reply.override_flag = true;
    reply.target = ndp->target;
    reply.link_layer_address = settings_.mac;
    if (asker.is_zero()) {
        // RFC 4861 7.2.4: a duplicate address check is answered to all nodes.
        const protocol::Ipv6Address all_nodes = *protocol::Ipv6Address::from_string("ff02::1");
        send(ndp_frame(settings_.mac, protocol::multicast_mac(Gid::from_ipv6(all_nodes)), ndp->target,
                       all_nodes, reply));
        return;
    }
    if (asker.is_multicast() || is_own(Gid::from_ipv6(asker))) return;
    const MacAddress mac = ndp->link_layer_address.value_or(packet.ethernet.source);
    if (!usable(mac)) return;
    learn(now, Gid::from_ipv6(asker), mac);
    reply.solicited = true;
    send(ndp_frame(settings_.mac, mac, ndp->target, asker, reply));
}

// Only what was asked for is learned: a table that anybody can fill is none.
void Neighbours::learn(engine::Time now, const Gid& gid, const MacAddress& mac) {
    const auto found = neighbours_.find(gid);
    if (found == neighbours_.end() || !usable(mac)) return;
    Neighbour& neighbour = found->second;
    if (neighbour.mac && *neighbour.mac != mac) moved_.push_back({gid, mac});
    neighbour.mac = mac;
    neighbour.asks = 0;
    neighbour.deadline = now + reachable_time;
    for (const std::uint64_t id : neighbour.waiting)
        finish(id, mac, ResolveError::none);
    neighbour.waiting.clear();
}

engine::Time Neighbours::next_deadline() const {
    engine::Time first = engine::never;
    for (const auto& [gid, neighbour] : neighbours_)
        first = std::min(first, neighbour.deadline);
    return first;
}

void Neighbours::handle_timeout(engine::Time now) {
    for (auto it = neighbours_.begin(); it != neighbours_.end();) {
        Neighbour& neighbour = it->second;
        if (neighbour.deadline > now) {
            ++it;
        } else if (neighbour.asks < asks_max) {
            ask(now, it->first, neighbour);
            ++it;
        } else {
            for (const std::uint64_t id : neighbour.waiting)
                finish(id, {}, ResolveError::timed_out);
            it = neighbours_.erase(it);
        }
    }
}

void Neighbours::send(std::vector<std::byte> frame) {
    if (outgoing_.size() < frames_max) outgoing_.push_back(std::move(frame));
}

std::size_t Neighbours::poll_transmit(std::span<std::byte> buffer) {
    if (outgoing_.empty()) return 0;
    const std::vector<std::byte> frame = std::move(outgoing_.front());
    outgoing_.pop_front();
    if (frame.size() > buffer.size()) return 0;
    std::memcpy(buffer.data(), frame.data(), frame.size());
    return frame.size();
}

bool Neighbours::poll_resolved(Resolution& resolution) {
    if (resolved_.empty()) return false;
    resolution = resolved_.front();
    resolved_.pop_front();
    return true;
}

bool Neighbours::poll_moved(NeighbourMove& move) {
    if (moved_.empty()) return false;
    move = moved_.front();
    moved_.pop_front();
    return true;
}

}  // namespace rocem::daemon
