// What the control thread asks of a worker, and what the worker answers. Values only; nothing here is shared
// but the memory and descriptors that a message lends, and says until when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ipc/layout.hpp"
#include "protocol/ids.hpp"
#include "queue_engine/qp_attributes.hpp"

namespace rocem::daemon {

using SessionId = std::uint64_t;  // never given twice; 0 is the daemon itself
using NicIndex = std::uint32_t;   // position in DaemonSettings::nics

// --- commands ---

// Lent until SessionClosed.
struct OpenSession {
    NicIndex nic = 0;
    ipc::SessionSegment* segment = nullptr;
    int doorbell = -1;
    int event_socket = -1;
};

// Everything of the session goes; answered by SessionClosed when no DMA is pending.
struct CloseSession {};

struct AllocPd {};
struct DeallocPd {
    std::uint32_t pd = 0;
};

struct RegisterMr {
    std::uint32_t pd = 0;
    std::uint32_t access = 0;  // AccessFlags
    std::uint64_t va = 0;
    std::uint64_t length = 0;   // bytes
    std::byte* base = nullptr;  // lent until the MR is deregistered
};
struct DeregisterMr {
    std::uint32_t mr = 0;
};

struct CreateCq {
    std::uint32_t cqe = 0;
    std::byte* object = nullptr;  // cq_layout(cqe); lent until the CQ is destroyed, as is the channel
    int channel = -1;             // the daemon's end; -1: none
};
struct DestroyCq {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
};

struct CreateQp {
    std::uint32_t pd = 0;
    std::uint32_t send_cq_slot = 0;
    std::uint32_t recv_cq_slot = 0;
    bool sq_sig_all = false;
    ipc::QpCaps caps{};
    std::byte* object = nullptr;  // qp_layout(caps); lent until the QP is destroyed
};

// The worker resolves the next hop when the address vector is in the mask.
struct ModifyQp {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
    std::uint32_t mask = 0;
    std::uint32_t send_producer = 0;
    std::uint32_t recv_producer = 0;
    engine::QpAttributes attributes;
};
struct QueryQp {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
};
struct DestroyQp {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
};

// For rocemctl: the QPs of all NICs of the worker.
struct ListQps {};

using Command = std::variant<OpenSession, CloseSession, AllocPd, DeallocPd, RegisterMr, DeregisterMr,
                             CreateCq, DestroyCq, CreateQp, ModifyQp, QueryQp, DestroyQp, ListQps>;

struct WorkerCommand {
    SessionId session = 0;
    std::uint32_t request_id = 0;  // echoed
    Command command;
};

// --- answers ---

struct Refusal {
    int error = 0;     // an errno
    std::string text;  // names field and value
};

struct Done {};
struct PdMade {
    std::uint32_t pd = 0;
};
struct MrMade {
    std::uint32_t mr = 0;
    protocol::LKey l_key;
    protocol::RKey r_key;
};
struct CqMade {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
};
struct QpMade {
    std::uint32_t slot = 0;
    std::uint32_t epoch = 0;
    protocol::Qpn qpn;
};
struct QpModified {
    std::uint32_t epoch = 0;
    engine::QpState state = engine::QpState::reset;
};
struct QpQueried {
    engine::QpAttributes attributes;
    ipc::QpCaps caps{};
    bool sq_sig_all = false;
};

struct QpFacts {
    NicIndex nic = 0;
    SessionId session = 0;
    protocol::Qpn qpn;
    engine::QpAttributes attributes;
};
struct QpList {
    std::vector<QpFacts> qps;
};

struct SessionClosed {};

// Unasked: the client broke the rules, its objects are gone. CloseSession is still due.
struct SessionViolated {
    std::string text;
};

using Answer = std::variant<Refusal, Done, PdMade, MrMade, CqMade, QpMade, QpModified, QpQueried, QpList,
                            SessionClosed, SessionViolated>;

struct WorkerAnswer {
    SessionId session = 0;
    std::uint32_t request_id = 0;
    Answer answer;
};

}  // namespace rocem::daemon
