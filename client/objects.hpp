// What stands behind the structures of rocem.h.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "client/connection.hpp"
#include "client/rocem.h"
#include "client/segments.hpp"
#include "client/spin_lock.hpp"
#include "ipc/abi.h"
#include "ipc/ring.hpp"
#include "ipc/shared_region.hpp"

namespace rocem::client {

struct Qp;

// A count of events told and acknowledged; guarded by Context::events_mutex. Destroying waits until they are
// equal.
struct EventCount {
    std::uint32_t told = 0;
    std::uint32_t acknowledged = 0;
};

// Which QP a completion is of. The epoch is written with the locks of both CQs of the QP held and read with
// one of them: while it matches, the QP lives.
struct QpEntry {
    std::atomic<std::uint32_t> epoch{0};  // 0: no QP
    Qp* qp = nullptr;
};

// A piece of rocem_alloc's memory.
struct Region {
    std::uint32_t id = 0;
    ipc::Mapping mapping;
    std::uint32_t mrs = 0;
};

struct Channel;
struct Cq;

struct Context : rocem_context {
    Connection connection;
    rocem_abi_device device{};
    SegmentTable segments;
    ipc::Mapping session_mapping;
    ipc::Mapping worker_mapping;
    ipc::Mapping counters_mapping;
    ipc::UniqueFd doorbell;
    ipc::UniqueFd event_socket;
    std::atomic<std::uint32_t> users{0};  // PDs, CQs, channels and regions that exist

    std::unique_ptr<std::array<QpEntry, ROCEM_ABI_QUEUE_SLOTS_MAX>> qp_table;

    std::mutex regions_mutex;
    std::map<const std::byte*, Region> regions;  // by first byte

    std::mutex events_mutex;
    std::condition_variable acknowledged;
    std::unordered_map<std::uint32_t, Cq*> cqs;  // by slot
    std::unordered_map<std::uint32_t, Qp*> qps;  // by slot
    bool fatal_told = false;

    std::set<Channel*> channels;  // guarded by the fork registry's lock

    ipc::SessionSegment& session() const {
        return *reinterpret_cast<ipc::SessionSegment*>(session_mapping.data());
    }
    const ipc::WorkerPage& worker() const {
        return *reinterpret_cast<ipc::WorkerPage*>(worker_mapping.data());
    }
};

struct Pd : rocem_pd {
    std::uint32_t id = 0;
    std::atomic<std::uint32_t> users{0};  // MRs and QPs that exist
};

struct Mr : rocem_mr {
    std::uint32_t id = 0;
    const std::byte* region = nullptr;  // its key in Context::regions
};

struct Channel : rocem_comp_channel {
    std::uint32_t id = 0;
    ipc::UniqueFd socket;
    std::atomic<std::uint32_t> users{0};  // CQs that exist
    // Events that found the socket full; told before the socket is read again. Guarded by events_mutex.
    std::deque<std::uint32_t> missed;  // CQ slots
};

struct Cq : rocem_cq {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
    std::uint32_t segment_id = 0;
    ipc::CqHead* head = nullptr;
    std::atomic<std::uint32_t> users{0};  // queues of QPs that exist
    EventCount completion_events;
    EventCount async_events;

    SpinLock lock;
    ipc::UntrustedConsumer ring;   // under lock
    std::uint32_t idle_polls = 0;  // in a row; under lock
};

struct SendQueue {
    SpinLock lock;
    ipc::Producer ring;  // under lock
    std::atomic<std::uint32_t> completed{
        0};  // ring index up to which slots are free again; written under the CQ's lock
};

using RecvQueue = SendQueue;

struct Qp : rocem_qp {
    std::uint32_t slot = 0;
    std::uint32_t segment_id = 0;
    rocem_abi_qp_caps caps{};
    bool sq_sig_all = false;
    // As this process last moved it. What the NIC does on its own (to ERR, SQE) changes nothing for posts.
    std::atomic<rocem_qp_state> state{ROCEM_QPS_RESET};
    SendQueue send;
    RecvQueue recv;
    EventCount async_events;
    std::mutex modify_mutex;  // one modify at a time
};

inline Context& context_of(rocem_context* context) {
    return *static_cast<Context*>(context);
}
inline Pd& pd_of(rocem_pd* pd) {
    return *static_cast<Pd*>(pd);
}
inline Cq& cq_of(rocem_cq* cq) {
    return *static_cast<Cq*>(cq);
}
inline Qp& qp_of(rocem_qp* qp) {
    return *static_cast<Qp*>(qp);
}

// Destroys something on the daemon's side. 0 also when the daemon is gone: then everything is.
int destroy_object(Context& context, const char* call, ipc::MessageType type, std::uint32_t object,
                   std::uint32_t epoch = 0);

// Both CQs of a QP, locked in one order.
class CqPairLock {
 public:
    CqPairLock(Cq& a, Cq& b);
    ~CqPairLock();
    CqPairLock(const CqPairLock&) = delete;
    CqPairLock& operator=(const CqPairLock&) = delete;

 private:
    Cq* first_;
    Cq* second_;  // null: both are one
};

}  // namespace rocem::client
