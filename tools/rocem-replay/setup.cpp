#include "tools/rocem-replay/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocol/syndrome.hpp"
#include "queue_engine/qp_attributes.hpp"

namespace rocem::tools {
namespace {

using protocol::Operation;
using protocol::PathMtu;
using protocol::Psn;
using protocol::RocePacket;
using protocol::Syndrome;

constexpr std::uint8_t nak_remote_access = Syndrome::nak(protocol::NakCode::remote_access_error).raw();
constexpr std::uint8_t nak_invalid_request = Syndrome::nak(protocol::NakCode::invalid_request).raw();

const RocePacket& roce_of(const Capture& capture, std::size_t at) {
    return capture[at].packet.roce;
}

std::uint32_t remote_right(const protocol::OpcodeInfo& info) {
    switch (info.operation) {
        case Operation::rdma_write:
            return engine::access_remote_write;
        case Operation::rdma_read_request:
            return engine::access_remote_read;
        case Operation::compare_swap:
        case Operation::fetch_add:
            return engine::access_remote_atomic;
        default:
            return 0;
    }
}

// Syndromes of the NAKs by the PSN that they refuse.
std::multimap<std::uint32_t, std::uint8_t> naks_of(const Capture& capture, const Connection& connection) {
    std::multimap<std::uint32_t, std::uint8_t> naks;
    for (const std::size_t at : connection.answers) {
        const RocePacket& roce = roce_of(capture, at);
        if (roce.info->operation != Operation::acknowledge) continue;
        if (Syndrome(roce.aeth.syndrome).kind() == Syndrome::Kind::nak)
            naks.emplace(roce.bth.psn.value(), roce.aeth.syndrome);
    }
    return naks;
}

bool refused_with(const std::multimap<std::uint32_t, std::uint8_t>& naks, Psn psn, std::uint8_t syndrome) {
    const auto [first, last] = naks.equal_range(psn.value());
    return std::any_of(first, last, [&](const auto& nak) { return nak.second == syndrome; });
}

PathMtu infer_mtu(const Capture& capture, const Connection& connection, std::uint32_t mtu_seen) {
    std::uint32_t least = mtu_seen;
    if (mtu_seen == 0) {
        constexpr std::uint32_t usual = 1024;  // where no packet was full: Ethernet's
        least = usual;
        for (const auto* side : {&connection.requests, &connection.answers}) {
            for (const std::size_t at : *side) {
                const auto bytes =
                    static_cast<std::uint32_t>(protocol::wire_payload_bytes(capture[at].packet));
                least = std::max(least, bytes);
            }
        }
    }
    for (unsigned value = 1; value <= 5; ++value) {
        const auto mtu = PathMtu::from_enum(value);
        if (mtu->bytes() >= least) return *mtu;
    }
    return *PathMtu::from_enum(5);
}

// The first request, unless the peer says at once that it waits for an earlier one.
Psn infer_expected_psn(const Capture& capture, const Connection& connection) {
    const Psn first = roce_of(capture, connection.requests.front()).bth.psn;
    if (connection.answers.empty()) return first;
    const RocePacket& answer = roce_of(capture, connection.answers.front());
    const bool sequence_nak =
        answer.info->operation == Operation::acknowledge &&
        answer.aeth.syndrome == Syndrome::nak(protocol::NakCode::psn_sequence_error).raw();
    return sequence_nak && answer.bth.psn.precedes(first) ? answer.bth.psn : first;
}

// Rights of the QP: of every kind of request that was not always refused for want of one.
std::uint32_t infer_access(const Capture& capture, const Connection& connection) {
    const auto naks = naks_of(capture, connection);
    std::uint32_t access = 0;
    for (const std::size_t at : connection.requests) {
        const RocePacket& roce = roce_of(capture, at);
        if (!refused_with(naks, roce.bth.psn, nak_invalid_request)) access |= remote_right(*roce.info);
    }
    return access;
}

std::uint8_t infer_rnr_timer(const Capture& capture, const Connection& connection) {
    for (const std::size_t at : connection.answers) {
        const RocePacket& roce = roce_of(capture, at);
        if (roce.info->operation != Operation::acknowledge) continue;
        const Syndrome syndrome(roce.aeth.syndrome);
        if (syndrome.kind() == Syndrome::Kind::rnr_nak) return syndrome.code();
    }
    return 0;
}

// One region for each key, over all that was done with it and not refused.
std::vector<RegionFact> infer_regions(const Capture& capture, const Connection& connection) {
    const auto naks = naks_of(capture, connection);
    std::map<std::uint32_t, RegionFact> regions;
    for (const std::size_t at : connection.requests) {
        const RocePacket& roce = roce_of(capture, at);
        const bool atomic = roce.info->has_atomic_eth;
        if (!atomic && !roce.info->has_reth) continue;
        if (refused_with(naks, roce.bth.psn, nak_remote_access)) continue;
        const std::uint64_t va = atomic ? roce.atomic_eth.va : roce.reth.va;
        const std::uint64_t length = atomic ? 8 : roce.reth.dma_length;
        const protocol::RKey key = atomic ? roce.atomic_eth.r_key : roce.reth.r_key;
        if (length == 0 || va + length < va) continue;
        const auto [found, is_new] = regions.emplace(key.value(), RegionFact{});
        RegionFact& region = found->second;
        if (is_new) {
            region.r_key = key;
            region.va = va;
            region.length = length;
        } else {
            const std::uint64_t end = std::max(region.va + region.length, va + length);
            region.va = std::min(region.va, va);
            region.length = end - region.va;
        }
        region.access |= remote_right(*roce.info) | engine::access_local_write;
    }
    std::vector<RegionFact> list;
    for (const auto& [key, region] : regions) {
        // Keys that differ in the consumer's byte only cannot both be; the engine decides by the first.
        if (list.empty() || list.back().r_key.value() >> 8 != key >> 8) list.push_back(region);
    }
    return list;
}

// The value of the side file, or what the capture tells, with a word about it.
template <class T, class Infer>
T given_or(const std::optional<T>& given, ResponderSetup& setup, const char* name, Infer infer) {
    if (given) return *given;
    setup.inferred.emplace_back(name);
    return infer();
}

}  // namespace

std::uint32_t largest_full_packet(const Capture& capture, const Connection& connection) {
    std::size_t largest = 0;
    for (const auto* side : {&connection.requests, &connection.answers}) {
        for (const std::size_t at : *side) {
            const protocol::Packet& packet = capture[at].packet;
            if (packet.roce.info->payload == protocol::PayloadRule::full)
                largest = std::max(largest, protocol::wire_payload_bytes(packet));
        }
    }
    return static_cast<std::uint32_t>(largest);
}

ResponderSetup make_setup(const Capture& capture, const Connection& connection, const ResponderFacts* facts,
                          bool cut, std::uint32_t mtu_seen) {
    const ResponderFacts nothing;
    const ResponderFacts& given = facts != nullptr ? *facts : nothing;
    ResponderSetup setup;
    setup.cut = cut;
    setup.acks = given.acks;
    setup.answers_lost = given.answers_lost;
    setup.not_received = given.not_received;
    setup.receives = given.receives;
    setup.msn = given.msn.value_or(protocol::Msn(0));
    setup.max_dest_rd_atomic = given.max_dest_rd_atomic.value_or(setup.max_dest_rd_atomic);
    const protocol::PKey first = roce_of(capture, connection.requests.front()).bth.p_key;
    setup.p_key = protocol::PKey(static_cast<std::uint16_t>(first.value() | 0x8000u));

    // A full packet shows the MTU, the first request the PSN: these are no guesses.
    setup.mtu = given.mtu ? *given.mtu : infer_mtu(capture, connection, mtu_seen);
    if (!given.mtu && mtu_seen == 0) setup.inferred.emplace_back("MTU");
    setup.expected_psn = given.expected_psn ? *given.expected_psn : infer_expected_psn(capture, connection);
    setup.access =
        given_or(given.access, setup, "QP rights", [&] { return infer_access(capture, connection); });
    setup.regions =
        given_or(given.regions, setup, "regions", [&] { return infer_regions(capture, connection); });
    if (!given.receives) setup.inferred.emplace_back("receives");
    setup.min_rnr_timer = given_or(given.min_rnr_timer, setup, "RNR timer",
                                   [&] { return infer_rnr_timer(capture, connection); });
    return setup;
}

}  // namespace rocem::tools
