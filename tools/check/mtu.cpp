#include "tools/check/mtu.hpp"

#include <algorithm>
#include <array>

namespace rocem::tools {
namespace {

using protocol::Operation;
using protocol::PathMtu;
using protocol::Position;
using protocol::Psn;

constexpr unsigned mtus = 5;

std::optional<PathMtu> most_common_full_packet(std::span<const Sighting> frames) {
    std::array<std::size_t, mtus + 1> votes{};
    for (const Sighting& frame : frames) {
        if (!frame.intact || frame.info->payload != protocol::PayloadRule::full) continue;
        if (const auto mtu = PathMtu::from_bytes(frame.payload_bytes)) ++votes[mtu->enum_value()];
    }
    const auto best = std::max_element(votes.begin(), votes.end());
    if (*best == 0) return std::nullopt;
    return PathMtu::from_enum(static_cast<unsigned>(best - votes.begin()));
}

// The PSNs between a READ and the request behind it.
std::optional<PathMtu> from_read_spans(std::span<const Sighting> frames) {
    const Sighting* previous = nullptr;
    for (const Sighting& frame : frames) {
        if (!frame.intact || !frame.info->is_request) continue;
        if (previous != nullptr && previous->info->operation == Operation::rdma_read_request) {
            const std::int32_t psns = Psn::distance(previous->psn, frame.psn);
            for (unsigned value = mtus; value >= 1 && psns > 1; --value) {
                const auto mtu = PathMtu::from_enum(value);
                if (psns_of(*previous, mtu->bytes()) == static_cast<std::uint32_t>(psns)) return mtu;
            }
        }
        previous = &frame;
    }
    return std::nullopt;
}

}  // namespace

std::uint32_t psns_of(const Sighting& request, std::uint32_t mtu) {
    if (request.info->operation != Operation::rdma_read_request) return 1;
    const std::uint64_t whole = (std::uint64_t{request.reth.dma_length} + mtu - 1) / mtu;
    return std::max(1u, static_cast<std::uint32_t>(whole));
}

std::optional<PathMtu> infer_mtu(std::span<const Sighting> frames) {
    if (const auto mtu = most_common_full_packet(frames)) return mtu;
    return from_read_spans(frames);
}

}  // namespace rocem::tools
