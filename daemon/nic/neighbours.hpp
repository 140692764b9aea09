// A NIC's neighbours, without I/O: answers ARP, NDP and ping for its own addresses, and finds the MAC address
// of the next hop to a GID before it is needed (decision 11). Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "config/settings.hpp"
#include "protocol/packet.hpp"
#include "queue_engine/time.hpp"

namespace rocem::daemon {

struct NeighbourSettings {
    protocol::MacAddress mac;
    std::vector<config::InterfaceAddress> addresses;  // with the link-local one, if the NIC has it
    std::optional<protocol::Gid> gateway_v4;
    std::optional<protocol::Gid> gateway_v6;
};

enum class ResolveError : std::uint8_t {
    none,
    host_unreachable,  // no route, or no room for another neighbour: EHOSTUNREACH
    timed_out,         // nobody answered: ETIMEDOUT
};

struct Resolution {
    std::uint64_t id = 0;
    protocol::MacAddress mac;
    ResolveError error = ResolveError::none;
};

// A next hop has a new MAC address: paths that lead over it change.
struct NeighbourMove {
    protocol::Gid next_hop;
    protocol::MacAddress mac;
};

class Neighbours {
 public:
    static constexpr unsigned asks_max = 3;
    static constexpr engine::Duration ask_interval = std::chrono::seconds(1);
    static constexpr engine::Duration reachable_time = std::chrono::seconds(30);
    static constexpr std::size_t neighbours_max = 1024;
    static constexpr std::size_t frames_max = 64;

    explicit Neighbours(const NeighbourSettings& settings);

    // --- observers ---
    engine::Time next_deadline() const;
    bool transmit_pending() const { return !outgoing_.empty(); }
    bool is_own(const protocol::Gid& gid) const;
    // Where frames for a GID go first: itself, a gateway, or nowhere.
    std::optional<protocol::Gid> next_hop(const protocol::Gid& destination) const;

    // --- commands ---
    // The answer comes from poll_resolved: at once for own, multicast and known addresses.
    std::uint64_t post_resolve(engine::Time now, const protocol::Gid& destination);

    // --- input ---
    // Whether the frame was ARP, ICMP or ICMPv6, whatever became of it.
    bool handle_packet(engine::Time now, const protocol::Packet& packet);
    void handle_timeout(engine::Time now);

    // --- output ---
    // The length of the frame written to buffer; 0: none, or the buffer is too small for it (it is then
    // lost).
    std::size_t poll_transmit(std::span<std::byte> buffer);
    bool poll_resolved(Resolution& resolution);
    bool poll_moved(NeighbourMove& move);

 private:
    struct Neighbour {
        std::optional<protocol::MacAddress> mac;  // none: asked for, not known
        std::vector<std::uint64_t> waiting;       // resolve ids
        unsigned asks = 0;                        // since the last answer
        engine::Time deadline = engine::never;    // next ask, or when it has to be asked for again
    };

    void handle_arp(engine::Time now, const protocol::Packet& packet);
    void handle_icmp(const protocol::Packet& packet);
    void handle_icmpv6(engine::Time now, const protocol::Packet& packet);
    void handle_solicitation(engine::Time now, const protocol::Packet& packet);
    void learn(engine::Time now, const protocol::Gid& gid, const protocol::MacAddress& mac);
    void ask(engine::Time now, const protocol::Gid& next_hop, Neighbour& neighbour);
    std::optional<protocol::Gid> source_for(const protocol::Gid& destination) const;
    void finish(std::uint64_t id, const protocol::MacAddress& mac, ResolveError error);
    void send(std::vector<std::byte> frame);

    NeighbourSettings settings_;
    std::unordered_map<protocol::Gid, Neighbour> neighbours_;
    std::deque<std::vector<std::byte>> outgoing_;
    std::deque<Resolution> resolved_;
    std::deque<NeighbourMove> moved_;
    std::uint64_t last_id_ = 0;
};

}  // namespace rocem::daemon
