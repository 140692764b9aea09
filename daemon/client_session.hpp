// One attached client, as its worker sees it: its objects, its rings, and what happens when it dies.
//
// A client names its objects by slot; every slot is looked up in this session's own tables, so it cannot name
// another session's. Whatever breaks the shared-memory rules is a violation: the session's objects go, nobody
// else notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/nic_core.hpp"
#include "daemon/slot_table.hpp"
#include "daemon/waiting_events.hpp"
#include "daemon/worker_messages.hpp"
#include "daemon/wqe_validation.hpp"
#include "ipc/dirty_bitmap.hpp"
#include "ipc/ring.hpp"

namespace rocem::daemon {

struct SessionMr {
    engine::MrHandle handle;
    std::uint64_t region = 0;
    bool retiring = false;  // deregistered; its number stays taken until the engine has let go
};

struct SessionCq {
    engine::CqHandle handle;
    std::uint32_t epoch = 0;
    ipc::CqHead* head = nullptr;
    ipc::Producer ring;
    std::uint32_t unpublished = 0;  // entries written since the last publish
    bool wakes_solicited = false;   // one of them wakes an arm for solicited completions
    bool overflowed = false;
    int channel = -1;
};

struct SessionQp {
    engine::QpHandle handle;
    protocol::Qpn qpn;
    std::uint32_t epoch = 0;
    ipc::QpCaps caps{};
    engine::QpCapabilities limits;
    std::optional<ipc::UntrustedConsumer> send;  // none: the queue has no slots
    std::optional<ipc::UntrustedConsumer> recv;
    bool sq_sig_all = false;
    bool retiring = false;  // destroyed; its slot stays taken until the engine has let go
};

class ClientSession {
 public:
    ClientSession(SessionId id, NicCore& nic, const OpenSession& resources);
    // closed() is true, or nothing was ever made.
    ~ClientSession() = default;
    ClientSession(const ClientSession&) = delete;
    ClientSession& operator=(const ClientSession&) = delete;

    SessionId id() const { return id_; }
    int doorbell() const { return resources_.doorbell; }
    int event_socket() const { return resources_.event_socket; }

    // --- posted work ---

    // Whether a queue may have new entries; seq_cst, for the look before sleeping.
    bool has_posts() const;
    // Dirty receive queues into the engine. Whether there were entries.
    bool drain_receives(engine::Time now);
    bool drain_sends(engine::Time now);
    // The engine has room again in a queue of this QP, or needs a receive (decision 9).
    void drain_queue(engine::Time now, std::uint32_t qp_slot, bool send, bool receive);

    // --- what comes back ---

    // Writes an entry into the CQ's ring; it is seen after publish().
    void push_completion(engine::Time now, std::uint32_t cq_slot, const engine::WorkCompletion& completion);
    // Shows all entries and sends the events that are armed.
    void publish();
    // What the socket has no room for waits until send_waiting_events finds some.
    void push_event(const engine::AsyncEvent& event);
    bool has_waiting_events() const { return !waiting_events_.empty(); }
    void send_waiting_events();

    // --- commands; each answers at once, or later through poll_retired ---

    Answer alloc_pd();
    Answer dealloc_pd(const DeallocPd& command);
    Answer register_mr(const RegisterMr& command);
    std::optional<Answer> deregister_mr(const DeregisterMr& command, std::uint32_t request_id);
    Answer create_cq(const CreateCq& command);
    Answer destroy_cq(const DestroyCq& command);
    Answer create_qp(const CreateQp& command);
    // attributes.av.dmac is resolved. Completions of before a RESET were delivered.
    Answer modify_qp(engine::Time now, const ModifyQp& command);
    Answer query_qp(const QueryQp& command) const;
    std::optional<Answer> destroy_qp(const DestroyQp& command, std::uint32_t request_id);
    void list_qps(NicIndex nic, std::vector<QpFacts>& facts);

    // Objects whose last DMA operation was answered: appends the answers that wait for that.
    bool has_retiring() const { return !retiring_.empty(); }
    void poll_retired(std::vector<WorkerAnswer>& answers);

    // --- the end ---

    // What the client did against the rules; nothing while it keeps them.
    const std::optional<std::string>& violation() const { return violation_; }
    // Destroys everything; later commands are refused. closed() says when nothing of it is left in the
    // engine.
    void close();
    bool closing() const { return closing_; }
    bool closed() const { return closing_ && retiring_.empty(); }

 private:
    // An object that the engine still needs for DMA operations under way.
    struct Retiring {
        bool is_qp = false;  // otherwise an MR
        std::uint32_t slot = 0;
        std::optional<std::uint32_t> request_id;  // who waits for it
    };

    void fail(std::string text);
    SessionQp* find_qp(std::uint32_t slot, std::uint32_t epoch);
    SessionCq* find_cq(std::uint32_t slot, std::uint32_t epoch);
    // Takes at most `limit` entries, as many as the engine has room for.
    bool drain_send_ring(engine::Time now, SessionQp& qp, std::uint32_t limit);
    bool drain_recv_ring(SessionQp& qp, std::uint32_t limit);
    bool consume_until(engine::Time now, SessionQp& qp, const ModifyQp& command);
    void reset_rings(SessionQp& qp, const ModifyQp& command, std::uint32_t slot);
    void overflow(engine::Time now, SessionCq& cq);
    // Both free the slot at once, or leave that to poll_retired; whether it was at once.
    bool retire_qp(std::uint32_t slot, std::optional<std::uint32_t> request_id);
    bool retire_mr(std::uint32_t slot, std::optional<std::uint32_t> request_id);
    bool free_if_gone(const Retiring& object);

    SessionId id_;
    NicCore& nic_;
    OpenSession resources_;
    SlotTable<engine::PdHandle> pds_;
    SlotTable<SessionMr> mrs_;
    SlotTable<SessionCq> cqs_;
    SlotTable<SessionQp> qps_;
    std::vector<std::uint32_t> cq_epochs_;  // last epoch given to each slot
    std::vector<std::uint32_t> qp_epochs_;
    std::vector<std::uint32_t> unpublished_cqs_;
    std::vector<Retiring> retiring_;
    WaitingEvents waiting_events_;
    std::optional<std::string> violation_;
    bool closing_ = false;
    WqeScratch scratch_;
};

}  // namespace rocem::daemon
