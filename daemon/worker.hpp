// A thread that drives whole NICs: nothing of them is touched by anybody else (decision 6).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/clock.hpp"
#include "daemon/emulated_nic.hpp"
#include "daemon/idle_policy.hpp"
#include "daemon/sleeper.hpp"
#include "daemon/worker_commands.hpp"
#include "daemon/worker_link.hpp"
#include "ipc/shared_region.hpp"

namespace rocem::daemon {

class Worker {
 public:
    // `page` is a rocem_abi_worker_page. All references outlive the worker.
    Worker(WorkerLink& link, ipc::SharedRegion& page, const Clock& clock, const IdleTimes& idle);

    // Before run(). False if the kernel does not take the port's descriptor into the sleeper.
    bool add_nic(EmulatedNic& nic);

    // Until stop(); then every session's objects are gone.
    void run();
    // From any thread.
    void stop();

    // One turn; whether there was work.
    bool run_once(engine::Time now);

 private:
    void idle(engine::Time now);
    void block();
    engine::Duration sleep_limit() const;
    bool something_came() const;
    void publish_counters();
    void send_waiting_events();

    WorkerLink& link_;
    ipc::WorkerPage& page_;
    const Clock& clock_;
    IdlePolicy idle_policy_;
    Sleeper sleeper_;
    std::vector<EmulatedNic*> nics_;
    WorkerCommands commands_;
    std::atomic<bool> stopping_{false};
    std::uint64_t turns_ = 0;
    std::uint64_t busy_turns_ = 0;
    std::uint64_t sleeps_ = 0;
};

}  // namespace rocem::daemon
