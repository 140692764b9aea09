// What the control thread knows about the daemon: its NICs, workers and limits. Filled at the start, then
// read only.
#pragma once

#include <spdlog/logger.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "daemon/clock.hpp"
#include "daemon/counters_page.hpp"
#include "daemon/worker_link.hpp"
#include "daemon/worker_messages.hpp"
#include "ipc/shared_region.hpp"
#include "queue_engine/settings.hpp"

namespace rocem::daemon {

struct NicView {
    config::NicSettings settings;
    engine::EngineSettings engine;
    std::size_t worker = 0;                        // index into Services::workers
    const CountersPage* counters = nullptr;        // never null
    const CountersPage* shown_counters = nullptr;  // what clients get: the same, or an empty page
};

struct WorkerView {
    std::string name;
    WorkerLink* link = nullptr;
    const ipc::SharedRegion* page = nullptr;  // a rocem_abi_worker_page
};

// One attached client, for "status".
struct SessionFacts {
    SessionId id = 0;
    pid_t pid = 0;  // 0: in a pid namespace that this daemon cannot see
    uid_t uid = 0;
    std::string program;
    std::string nic;  // empty: none opened
    std::size_t qps = 0;
    std::size_t cqs = 0;
    std::size_t mrs = 0;
    std::uint64_t memory_bytes = 0;
};

class SessionDirectory {
 public:
    virtual ~SessionDirectory() = default;
    virtual std::vector<SessionFacts> sessions() const = 0;
};

struct Services {
    std::string version;
    std::string socket_path;
    config::LimitSettings limits;
    std::vector<NicView> nics;
    std::vector<WorkerView> workers;
    const Clock* clock = nullptr;
    engine::Time started_at{};
    spdlog::logger* log = nullptr;
    const SessionDirectory* directory = nullptr;  // set by the control server
};

}  // namespace rocem::daemon
