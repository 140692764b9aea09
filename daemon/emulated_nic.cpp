#include "daemon/emulated_nic.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "config/identity.hpp"
#include "protocol/icrc.hpp"

namespace rocem::daemon {
namespace {

// Work of one turn and direction: two bursts, so that both directions and all NICs of the worker advance
// together.
constexpr int bursts_per_turn = 2;
constexpr int wanted_per_turn = 64;

NeighbourSettings neighbour_settings(const config::NicSettings& nic) {
    NeighbourSettings settings{.mac = nic.mac,
                               .addresses = nic.addresses,
                               .gateway_v4 = nic.gateway_v4,
                               .gateway_v6 = nic.gateway_v6};
    if (nic.gid_link_local)
        settings.addresses.push_back({.gid = config::link_local_gid(nic.mac), .prefix_length = 64});
    return settings;
}

}  // namespace

EmulatedNic::EmulatedNic(NicParts parts)
    : index_(parts.index),
      core_(parts.engine, parts.seed, rx_frames_max),
      gids_(parts.engine.gid_table),
      pool_(*parts.pool),
      port_(std::move(parts.port)),
      neighbours_(neighbour_settings(parts.settings)),
      rx_frames_(rx_frames_max),
      tx_frames_(core_.engine.settings().tx_frames_max),
      counters_(counter_labels()) {
    receive_context_.mac = parts.settings.mac;
    receive_context_.gids = gids_;
    receive_context_.ignore_udp_checksum = parts.settings.ignore_udp_checksum;
    for (std::uint32_t token = 0; token < rx_frames_max; ++token)
        rx_free_.push_back(token);
    rx_in_use_.reserve(rx_frames_max);
    spare_.reserve(burst_frames_max);
    outgoing_.reserve(tx_frames_.size() + burst_frames_max);
}

EmulatedNic::~EmulatedNic() {
    for (const std::uint32_t token : rx_in_use_)
        free_frame(rx_frames_[token]);
    for (const BuiltFrame& frame : tx_frames_) {
        if (frame.buffer.handle != nullptr) free_frame(frame.buffer);
    }
    free_frames(spare_);
    free_frames(outgoing_);
}

// --- receive ---

bool EmulatedNic::receive(engine::Time now) {
    bool any = false;
    std::array<FrameBuffer, burst_frames_max> burst;
    for (int i = 0; i < bursts_per_turn; ++i) {
        const std::size_t room = std::min(burst.size(), rx_free_.size());
        const std::size_t count = port_->receive(now, std::span(burst).first(room));
        port_drained_ = count < room;
        if (count == 0) break;
        any = true;
        // Decision 9: what was posted before these frames were sent is seen before them.
        for (const auto& session : sessions_)
            session->drain_receives(now);
        for (std::size_t f = 0; f < count; ++f) {
            const std::uint32_t token = rx_free_.back();
            rx_free_.pop_back();
            rx_in_use_.push_back(token);
            rx_frames_[token] = burst[f];
            handle_frame(now, token);
        }
        if (port_drained_) break;
    }
    return any;
}

void EmulatedNic::handle_frame(engine::Time now, std::uint32_t token) {
    const auto packet = protocol::parse_frame(rx_frames_[token].bytes());
    if (!packet) {
        count_drop(packet.error());
        return;
    }
    switch (packet->kind) {
        case protocol::FrameKind::roce_v2:
            handle_roce(now, *packet, token);
            break;
        case protocol::FrameKind::arp:
        case protocol::FrameKind::icmp:
        case protocol::FrameKind::icmpv6:
            neighbours_.handle_packet(now, *packet);
            break;
        case protocol::FrameKind::roce_v1:
        case protocol::FrameKind::other:
            count_drop(protocol::DropReason::not_roce);
            break;
    }
}

void EmulatedNic::handle_roce(engine::Time now, const protocol::Packet& packet, std::uint32_t token) {
    const protocol::Verdict verdict = protocol::accept(packet, receive_context_);
    if (!verdict.accepted) {
        count_drop(verdict.reason);
        return;
    }
    const engine::PacketResult result =
        core_.engine.handle_packet(now, packet, token, engine::MissingReceive::ask);
    if (result.outcome != engine::PacketOutcome::needs_receive) return;
    const SlotOwner owner = core_.qp_owners.at(result.qp.index);
    if (owner.session != nullptr) owner.session->drain_queue(now, owner.slot, false, true);
    core_.engine.handle_packet(now, packet, token, engine::MissingReceive::rnr_nak);
}

bool EmulatedNic::run_dma(engine::Time now) {
    const bool any = core_.run_dma(now);
    release_received();
    return any;
}

// Every operation of the frames handled so far is in the DMA engine's hands: what it does not use is free.
void EmulatedNic::release_received() {
    std::erase_if(rx_in_use_, [&](std::uint32_t token) {
        if (core_.dma.uses_frame(token)) return false;
        free_frame(rx_frames_[token]);
        rx_free_.push_back(token);
        return true;
    });
}

bool EmulatedNic::run_timers(engine::Time now) {
    bool any = false;
    if (port_drained_ && core_.engine.next_deadline() <= now) {
        core_.engine.handle_timeout(now);
        any = true;
    }
    if (neighbours_.next_deadline() <= now) {
        neighbours_.handle_timeout(now);
        any = true;
    }
    follow_moves();
    return any;
}

// --- transmit ---

bool EmulatedNic::drain_posts(engine::Time now) {
    bool any = false;
    for (const auto& session : sessions_) {
        any = session->drain_receives(now) || any;
        any = session->drain_sends(now) || any;
    }
    engine::WantedWork wanted;
    for (int i = 0; i < wanted_per_turn && core_.engine.poll_wanted(wanted); ++i) {
        const SlotOwner owner = core_.qp_owners.at(wanted.qp.index);
        if (owner.session == nullptr) continue;
        owner.session->drain_queue(now, owner.slot, wanted.send, wanted.receive);
        any = true;
    }
    return any;
}

bool EmulatedNic::transmit(engine::Time now) {
    bool any = send_neighbour_frames();
    for (int i = 0; i < bursts_per_turn; ++i) {
        // What the port did not take has to go before anything new is built.
        if (!outgoing_.empty() && !flush(now)) break;
        const bool built = build_frames(now);
        if (built) core_.run_dma(now);
        const bool released = release_ready(now);
        flush(now);
        if (!built && !released) break;
        any = true;
    }
    return any;
}

// Headers into buffers, as many as the port is sure to take (decision 10). Whether there was one.
bool EmulatedNic::build_frames(engine::Time now) {
    const std::size_t spoken_for = under_construction_ + outgoing_.size();
    const std::size_t room = port_->transmit_room();
    std::size_t budget = std::min(burst_frames_max, room > spoken_for ? room - spoken_for : 0);
    bool any = false;
    for (; budget > 0; --budget) {
        auto buffer = take_buffer();
        if (!buffer) break;
        const auto frame = core_.engine.poll_transmit(now, buffer->room());
        if (!frame) {
            spare_.push_back(*buffer);
            break;
        }
        buffer->length = frame->length;
        tx_frames_[frame->id] = {.buffer = *buffer, .l3_offset = frame->l3_offset};
        ++under_construction_;
        any = true;
    }
    return any;
}

// Frames whose payload has come, or never will. Whether there was one.
bool EmulatedNic::release_ready(engine::Time now) {
    bool any = false;
    engine::FrameVerdict verdict;
    while (core_.engine.poll_frame(now, verdict)) {
        const BuiltFrame frame = std::exchange(tx_frames_[verdict.id], {});
        --under_construction_;
        any = true;
        if (verdict.action == engine::FrameAction::discard) {
            free_frame(frame.buffer);
            continue;
        }
        protocol::seal_icrc(frame.buffer.room().first(frame.buffer.length), frame.l3_offset);
        outgoing_.push_back(frame.buffer);
    }
    return any;
}

// Whether nothing is left to send.
bool EmulatedNic::flush(engine::Time now) {
    std::size_t sent = 0;
    while (sent < outgoing_.size()) {
        const std::size_t count = std::min(burst_frames_max, outgoing_.size() - sent);
        const std::size_t taken = port_->transmit(now, std::span(outgoing_).subspan(sent, count));
        sent += taken;
        if (taken < count) break;
    }
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(sent));
    return outgoing_.empty();
}

std::optional<FrameBuffer> EmulatedNic::take_buffer() {
    if (spare_.empty()) {
        spare_.resize(burst_frames_max);
        spare_.resize(pool_.allocate(spare_));
        if (spare_.empty()) return std::nullopt;
    }
    const FrameBuffer buffer = spare_.back();
    spare_.pop_back();
    return buffer;
}

bool EmulatedNic::send_neighbour_frames() {
    bool any = false;
    while (neighbours_.transmit_pending()) {
        auto buffer = take_buffer();
        if (!buffer) break;
        buffer->length = static_cast<std::uint32_t>(neighbours_.poll_transmit(buffer->room()));
        (buffer->length != 0 ? outgoing_ : spare_).push_back(*buffer);
        any = true;
    }
    return any;
}

// Paths over a next hop that has a new MAC address. Rare: it looks at every QP.
void EmulatedNic::follow_moves() {
    NeighbourMove move;
    while (neighbours_.poll_moved(move)) {
        std::vector<QpFacts> qps;
        for (const auto& session : sessions_)
            session->list_qps(index_, qps);
        for (const QpFacts& qp : qps) {
            const protocol::Gid& dgid = qp.attributes.av.dgid;
            if (neighbours_.next_hop(dgid) == move.next_hop)
                core_.engine.update_destination_mac(dgid, move.mac);
        }
    }
}

bool EmulatedNic::deliver_completions(engine::Time now) {
    bool any = false;
    engine::WorkCompletion completion;
    while (core_.engine.poll_completion(completion)) {
        const SlotOwner owner = core_.cq_owners.at(completion.cq.index);
        if (owner.session != nullptr) owner.session->push_completion(now, owner.slot, completion);
        any = true;
    }
    engine::AsyncEvent event;
    while (core_.engine.poll_event(event)) {
        const SlotOwner owner =
            event.qp ? core_.qp_owners.at(event.qp.index) : core_.cq_owners.at(event.cq.index);
        if (owner.session != nullptr) owner.session->push_event(event);
        any = true;
    }
    if (any) {
        for (const auto& session : sessions_)
            session->publish();
    }
    return any;
}

// --- before sleeping ---

bool EmulatedNic::has_posts() const {
    return std::any_of(sessions_.begin(), sessions_.end(),
                       [](const auto& session) { return session->has_posts(); });
}

engine::Time EmulatedNic::next_deadline() const {
    return std::min({core_.engine.next_deadline(), neighbours_.next_deadline(), port_->next_deadline()});
}

bool EmulatedNic::must_poll() const {
    return port_->wait_descriptor() < 0 || !outgoing_.empty() || core_.dma.pending() > 0 ||
           core_.engine.transmit_pending();
}

// --- sessions ---

void EmulatedNic::open_session(SessionId id, const OpenSession& resources) {
    sessions_.push_back(std::make_unique<ClientSession>(id, core_, resources));
}

void EmulatedNic::remove_session(ClientSession& session) {
    std::erase_if(sessions_, [&](const auto& candidate) { return candidate.get() == &session; });
}

// --- counters ---

// The order of publish_counters().
std::vector<std::string> EmulatedNic::counter_labels() {
    std::vector<std::string> labels{
#define ROCEM_LABEL(symbol, sentence) #symbol,
        ROCEM_ENGINE_COUNTERS(ROCEM_LABEL)
#undef ROCEM_LABEL
    };
    for (std::size_t i = 0; i < protocol::drop_reason_count; ++i) {
        labels.push_back("drops." +
                         std::string(protocol::drop_reason_name(static_cast<protocol::DropReason>(i))));
    }
    port_->append_counters(port_counters_);
    for (const PortCounter& counter : port_counters_)
        labels.push_back("port." + std::string(counter.name));
    return labels;
}

void EmulatedNic::publish_counters() {
    const engine::Counters& counters = core_.engine.counters();
    std::size_t index = 0;
#define ROCEM_SET(symbol, sentence) counters_.set(index++, counters.symbol);
    ROCEM_ENGINE_COUNTERS(ROCEM_SET)
#undef ROCEM_SET
    for (std::size_t i = 0; i < protocol::drop_reason_count; ++i) {
        counters_.set(index++, counters.drops[i] + drops_[i]);
    }
    port_counters_.clear();
    port_->append_counters(port_counters_);
    for (const PortCounter& counter : port_counters_)
        counters_.set(index++, counter.value);
}

}  // namespace rocem::daemon
