// The control thread's commands as a worker carries them out: at once, or when what they wait for has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/emulated_nic.hpp"
#include "daemon/sleeper.hpp"
#include "daemon/worker_link.hpp"

namespace rocem::daemon {

class WorkerCommands {
 public:
    WorkerCommands(WorkerLink& link, Sleeper& sleeper) : link_(link), sleeper_(sleeper) {}

    void add_nic(EmulatedNic& nic) { nics_.push_back(&nic); }

    // A small share of the queue, whatever else the worker has to do, and everything that waited and need not
    // any more. Whether there was anything.
    bool run(engine::Time now);

    // Every session's objects go, as if every client had died.
    void close_all();

    // Objects wait for DMA operations that come without a wake.
    bool must_poll() const;

 private:
    struct Place {
        EmulatedNic* nic = nullptr;
        ClientSession* session = nullptr;
    };
    // A modify_qp whose next hop is not known yet (decision 11).
    struct WaitingModify {
        SessionId session = 0;
        std::uint32_t request_id = 0;
        ModifyQp command;
        const EmulatedNic* nic = nullptr;
        std::uint64_t resolve_id = 0;  // of the NIC's neighbours
    };

    void carry_out(engine::Time now, WorkerCommand& command);
    void open(const WorkerCommand& command, const OpenSession& resources);
    void list_qps(const WorkerCommand& command);
    void close(const WorkerCommand& command);
    void start_modify(engine::Time now, WaitingModify modify);
    void modify(engine::Time now, const WaitingModify& modify);
    bool finish_resolved(engine::Time now);
    bool finish_retired();
    bool end_violators();
    void answer(SessionId session, std::uint32_t request_id, Answer&& answer);
    Place find(SessionId session) const;

    WorkerLink& link_;
    Sleeper& sleeper_;
    std::vector<EmulatedNic*> nics_;
    std::vector<WaitingModify> waiting_;
    std::vector<WorkerAnswer> retired_answers_;

    struct Closing {
        SessionId session = 0;
        std::uint32_t request_id = 0;
    };
    std::vector<Closing> closing_;
};

}  // namespace rocem::daemon
