// A NIC's neighbours with two addresses of ours and a script of frames.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "daemon/nic/neighbours.hpp"
#include "tests/unit/nic/neighbour_frames_by_hand.hpp"
#include "tests/unit/protocol/bytes.hpp"

namespace rocem::test {

using namespace std::chrono_literals;

inline protocol::Gid gid(std::string_view text) {
    return *protocol::Gid::from_string(text);
}
inline protocol::MacAddress mac(std::string_view text) {
    return *protocol::MacAddress::from_string(text);
}

inline const protocol::MacAddress our_mac = mac("02:00:00:00:00:01");
inline const protocol::MacAddress peer_mac = mac("02:00:00:00:00:02");

struct NeighbourRig {
    static daemon::NeighbourSettings settings() {
        daemon::NeighbourSettings made;
        made.mac = our_mac;
        made.addresses = {{gid("10.1.0.1"), 24}, {gid("fd00::1"), 64}, {gid("fe80::1"), 64}};
        return made;
    }

    explicit NeighbourRig(const daemon::NeighbourSettings& settings = NeighbourRig::settings())
        : neighbours(settings) {}

    // Whether it was the neighbours' business.
    bool hear(std::string_view hex) {
        const Bytes frame = from_hex(hex);
        const auto packet = protocol::parse_frame(frame);
        REQUIRE(packet);
        return neighbours.handle_packet(now, *packet);
    }

    // The next frame out, "" if none.
    std::string said() {
        std::array<std::byte, 2048> buffer{};
        const std::size_t length = neighbours.poll_transmit(buffer);
        return to_hex(std::span(buffer).first(length));
    }

    void pass(engine::Duration time) {
        now += time;
        neighbours.handle_timeout(now);
    }

    std::uint64_t resolve(std::string_view address) { return neighbours.post_resolve(now, gid(address)); }

    // The next answer as a line: "1 02:00:00:00:00:02", "1 timed_out", "1 host_unreachable"; "" if none.
    std::string resolved() {
        daemon::Resolution resolution;
        if (!neighbours.poll_resolved(resolution)) return "";
        const std::string id = std::to_string(resolution.id) + " ";
        switch (resolution.error) {
            case daemon::ResolveError::none:
                return id + resolution.mac.to_string();
            case daemon::ResolveError::host_unreachable:
                return id + "host_unreachable";
            case daemon::ResolveError::timed_out:
                return id + "timed_out";
        }
        return "?";
    }

    engine::Time now{1h};
    daemon::Neighbours neighbours;
};

// The frames by hand have blanks where a reader wants them.
inline std::string frame(std::string_view hex) {
    return to_hex(from_hex(hex));
}

}  // namespace rocem::test
