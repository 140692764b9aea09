// One NIC with the owner that the daemon's worker is for it: queues of posted work, frames, memory,
// completion queues.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.hpp"
#include "protocol/units.hpp"
#include "queue_engine/engine.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/roce_frame.hpp"

namespace rocem::test {

inline constexpr std::uint32_t access_all = engine::access_local_write | engine::access_remote_write |
                                            engine::access_remote_read | engine::access_remote_atomic;

// Registered memory of a node.
struct Buffer {
    std::uint64_t region = 0;
    std::uint64_t va = 0;
    engine::MrInfo mr;
    std::span<std::byte> bytes;  // empty for a phantom

    SgeList slice(std::uint64_t offset, std::uint32_t length) const {
        return {engine::Sge{va + offset, length, mr.l_key}};
    }
    SgeList all() const { return slice(0, static_cast<std::uint32_t>(bytes.size())); }
    RemoteAddress at(std::uint64_t offset = 0) const { return {va + offset, mr.r_key}; }
};

struct NodeSettings {
    engine::EngineSettings engine;
    std::uint64_t seed = 1;
    DmaMode dma;
    Address address;
    std::uint32_t cq_capacity = 65536;
    unsigned transmit_budget = 64;  // frames a turn
    bool lazy_receives = false;     // receives reach the engine only when a packet asks for one
};

class Node {
 public:
    explicit Node(const NodeSettings& settings);

    engine::Engine engine;
    Memory memory;
    const Address address;
    engine::PdHandle pd;
    engine::CqHandle send_cq;
    engine::CqHandle recv_cq;

    // --- memory ---
    Buffer buffer(std::size_t length, std::uint32_t access = access_all,
                  std::optional<engine::PdHandle> in = {});
    Buffer filled(std::size_t length, unsigned salt = 1);
    Buffer phantom(std::uint64_t length);

    // --- queue pairs, by the number that add_qp returns ---
    unsigned add_qp(const engine::QpInit& init);
    engine::QpHandle qp(unsigned number = 0) const { return qps_.at(number).handle; }
    protocol::Qpn qpn(unsigned number = 0) const { return qps_.at(number).qpn; }
    engine::QpState state(unsigned number = 0) const;
    // Takes a destroyed or reset QP's posted work away, as a client's library does.
    void forget_posts(unsigned number = 0);

    // Into the client's ring: reaches the engine in the next turn, as far as there is room.
    void post(SendRequest request, unsigned number = 0);
    void post(ReceiveRequest request, unsigned number = 0);
    // Past the ring: what the engine says to it.
    engine::Error post_now(engine::Time now, const SendRequest& request, unsigned number = 0);
    engine::Error post_now(const ReceiveRequest& request, unsigned number = 0);

    // --- what happened, each since the last call ---
    std::vector<engine::WorkCompletion> take_sent() { return take(send_cq); }
    std::vector<engine::WorkCompletion> take_received() { return take(recv_cq); }
    std::string sent();  // lines of describe(WorkCompletion)
    std::string received();
    std::string events();  // lines of names
    std::vector<engine::AsyncEvent> take_events();
    const engine::Counters& counters() const { return engine.counters(); }
    std::uint64_t drops(protocol::DropReason reason) const;
    // Refusals since the last call, by protocol::accept and by the engine.
    std::vector<protocol::DropReason> take_drops() { return std::exchange(drops_, {}); }
    // Engine misbehaviour towards its owner, empty if there was none.
    std::vector<std::string> violations() const;

    // --- driven by the story ---
    void deliver(std::vector<std::byte> frame) { arrived_.push_back(std::move(frame)); }
    // One turn of the worker; true if anything happened.
    bool turn(engine::Time now);
    std::vector<std::vector<std::byte>> take_frames() { return std::exchange(departing_, {}); }
    bool dma_pending() const { return memory.pending() != 0 && !memory.held(); }
    // No port room: poll_transmit is not called.
    void stop_transmitting(bool stop) { transmit_stopped_ = stop; }
    void engine_cq(engine::CqHandle cq, std::uint32_t capacity);  // a CQ made by the test itself

 private:
    struct TestQp {
        engine::QpHandle handle;
        protocol::Qpn qpn;
        std::deque<SendRequest> sends;
        std::deque<ReceiveRequest> receives;
    };
    struct TestCq {
        std::uint32_t capacity = 0;
        bool dead = false;
        std::deque<engine::WorkCompletion> entries;
    };
    using CqKey = std::pair<std::uint32_t, std::uint32_t>;
    static CqKey key_of(engine::CqHandle cq) { return {cq.index, cq.generation}; }

    bool receive_frames(engine::Time now);
    void handle_frame(engine::Time now, std::span<const std::byte> frame, engine::RxToken token);
    bool run_dma(engine::Time now);
    bool post_work(engine::Time now);
    void drain_sends(engine::Time now, TestQp& qp);
    bool drain_receives(TestQp& qp);
    bool transmit(engine::Time now);
    bool collect(engine::Time now);
    void drop_unused_buffers();
    std::vector<engine::WorkCompletion> take(engine::CqHandle cq);
    TestQp* find(engine::QpHandle handle);

    NodeSettings settings_;
    std::uint64_t turn_ = 0;
    std::uint64_t next_va_ = 0x100000;
    std::deque<TestQp> qps_;
    std::set<unsigned> dirty_;
    std::map<CqKey, TestCq> cqs_;
    std::vector<engine::AsyncEvent> events_;
    std::vector<protocol::DropReason> drops_;
    std::vector<std::string> violations_;

    std::deque<std::vector<std::byte>> arrived_;
    engine::RxToken next_token_ = 1;
    std::map<engine::RxToken, std::vector<std::byte>> rx_frames_;  // may still be pointed into
    struct TxBuffer {
        engine::TxFrame frame;
        std::vector<std::byte> bytes;
    };
    std::map<engine::TxFrameId, TxBuffer> tx_frames_;
    std::list<std::vector<std::byte>> retired_tx_;  // discarded with a read still on its way
    std::vector<std::vector<std::byte>> departing_;
    bool transmit_stopped_ = false;
};

// A NIC with the address 10.0.0.<host> and MAC 02:00:00:00:00:<host>.
Address address_of(std::uint8_t host);
// The same NIC's other address, 10.0.1.<host>: entry 1 of its GID table.
Address second_address_of(Address address);
protocol::Gid gid_of(const Address& address);
protocol::MacAddress mac_of(const Address& address);
protocol::PathMtu path_mtu_of(std::uint32_t bytes);

template <class Id>
std::uint32_t number_of(Id id) {
    return id.value();
}

}  // namespace rocem::test
