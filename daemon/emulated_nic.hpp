// One NIC: an engine, the port it speaks through, its neighbours, and the sessions that use it.
//
// Each method is one line of Worker::run_once, does a bounded amount of work, and says whether there was any.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "daemon/client_session.hpp"
#include "daemon/counters_page.hpp"
#include "daemon/nic/frame_buffer.hpp"
#include "daemon/nic/neighbours.hpp"
#include "daemon/nic/packet_port.hpp"
#include "daemon/nic_core.hpp"
#include "protocol/packet.hpp"

namespace rocem::daemon {

// Received frames that DMA operations may point into at once.
inline constexpr std::uint32_t rx_frames_max = 512;

struct NicParts {
    NicIndex index = 0;
    config::NicSettings settings;
    engine::EngineSettings engine;
    engine::Seed seed{};
    FramePool* pool = nullptr;  // outlives the NIC and its port
    std::unique_ptr<PacketPort> port;
};

class EmulatedNic {
 public:
    explicit EmulatedNic(NicParts parts);
    ~EmulatedNic();
    EmulatedNic(const EmulatedNic&) = delete;
    EmulatedNic& operator=(const EmulatedNic&) = delete;

    NicIndex index() const { return index_; }
    NicCore& core() { return core_; }
    const CountersPage& counters() const { return counters_; }
    PacketPort& port() { return *port_; }
    Neighbours& neighbours() { return neighbours_; }

    // --- the turn ---

    // Posted receives, then bursts from the port: neighbours answer, the engine takes RoCE.
    bool receive(engine::Time now);
    bool run_dma(engine::Time now);
    // Only when the port was drained: an ACK may still wait there.
    bool run_timers(engine::Time now);
    bool drain_posts(engine::Time now);
    // Frames while the port has room; the ICRC comes right before the port takes them.
    bool transmit(engine::Time now);
    bool deliver_completions(engine::Time now);
    void publish_counters();

    // --- before sleeping ---

    // A post that came after the last look (decision 13).
    bool has_posts() const;
    engine::Time next_deadline() const;
    // Whether there is work that nothing will announce.
    bool must_poll() const;

    // --- sessions ---

    void open_session(SessionId id, const OpenSession& resources);
    void remove_session(ClientSession& session);
    const std::vector<std::unique_ptr<ClientSession>>& sessions() const { return sessions_; }

 private:
    void handle_frame(engine::Time now, std::uint32_t token);
    void handle_roce(engine::Time now, const protocol::Packet& packet, std::uint32_t token);
    void count_drop(protocol::DropReason reason) { ++drops_[static_cast<std::size_t>(reason)]; }
    void release_received();
    bool build_frames(engine::Time now);
    bool release_ready(engine::Time now);
    bool flush(engine::Time now);
    bool send_neighbour_frames();
    void follow_moves();
    std::optional<FrameBuffer> take_buffer();
    std::vector<std::string> counter_labels();

    NicIndex index_;
    NicCore core_;
    protocol::ReceiveContext receive_context_;
    std::vector<protocol::Gid> gids_;  // what receive_context_ points to
    FramePool& pool_;
    std::unique_ptr<PacketPort> port_;
    Neighbours neighbours_;
    std::vector<std::unique_ptr<ClientSession>> sessions_;

    bool port_drained_ = true;
    std::vector<FrameBuffer> rx_frames_;    // by token
    std::vector<std::uint32_t> rx_free_;    // tokens
    std::vector<std::uint32_t> rx_in_use_;  // tokens whose frames wait for DMA

    struct BuiltFrame {
        FrameBuffer buffer;
        std::uint16_t l3_offset = 0;
    };
    std::vector<BuiltFrame> tx_frames_;  // by TxFrameId, from poll_transmit to its verdict
    std::size_t under_construction_ = 0;
    std::vector<FrameBuffer> spare_;     // buffers that were not used yet
    std::vector<FrameBuffer> outgoing_;  // finished; the port takes them in this order

    std::array<std::uint64_t, protocol::drop_reason_count> drops_{};  // before the engine
    std::vector<PortCounter> port_counters_;
    CountersPage counters_;
};

}  // namespace rocem::daemon
