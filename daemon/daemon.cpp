#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "config/identity.hpp"
#include "daemon/control/control_server.hpp"
#include "daemon/control/listen_socket.hpp"
#include "daemon/emulated_nic.hpp"
#include "daemon/nic/dpdk_environment.hpp"
#include "daemon/ports.hpp"
#include "daemon/worker.hpp"

namespace rocem::daemon {
namespace {

using Failure = tl::unexpected<std::string>;

engine::EngineSettings engine_settings(const config::LimitSettings& limits, const config::NicSettings& nic) {
    engine::EngineSettings settings;
    settings.limits.max_qp = limits.max_qp;
    settings.limits.max_qp_wr = limits.max_qp_wr;
    settings.limits.max_sge = limits.max_sge;
    settings.limits.max_inline_data = limits.max_inline_data;
    settings.limits.max_cq = limits.max_cq;
    settings.limits.max_cqe = limits.max_cqe;
    settings.limits.max_mr = limits.max_mr;
    settings.limits.max_pd = limits.max_pd;
    settings.limits.max_qp_rd_atom = limits.max_qp_rd_atom;
    settings.limits.max_msg_sz = limits.max_msg_bytes;
    settings.mac = nic.mac;
    settings.gid_table = config::gid_table(nic);
    settings.active_mtu = nic.mtu;
    settings.window_packets = nic.window_packets;
    settings.ack_request_packets = nic.ack_request_packets;
    settings.mig_req = nic.mig_req;
    return settings;
}

// Keys, QPNs and PSNs of each NIC are drawn from a seed of its own.
std::optional<engine::Seed> make_seed(const config::DaemonSettings& settings, NicIndex nic) {
    engine::Seed seed{};
    if (settings.seed) {
        std::memcpy(seed.data(), &*settings.seed, sizeof(*settings.seed));
        std::memcpy(seed.data() + sizeof(*settings.seed), &nic, sizeof(nic));
        return seed;
    }
    if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size())) return std::nullopt;
    return seed;
}

std::size_t worker_named(const config::DaemonSettings& settings, const std::string& name) {
    for (std::size_t i = 0; i < settings.workers.size(); ++i) {
        if (settings.workers[i].name == name) return i;
    }
    return 0;  // left out: the first one
}

IdleTimes idle_times(const config::IdleSettings& idle) {
    using std::chrono::microseconds;
    return {.spin = microseconds(idle.spin_us),
            .yield = microseconds(idle.yield_us),
            .block = idle.block,
            .max_sleep = microseconds(idle.max_sleep_us)};
}

}  // namespace

// In the order of their making; taken down from the last to the first.
struct Daemon::Impl {
    explicit Impl(spdlog::logger& logger) : log(logger) {}
    ~Impl() { stop_workers(); }

    std::optional<std::string> make_workers(const config::DaemonSettings& settings);
    std::optional<std::string> make_nics(const config::DaemonSettings& settings);
    void start_workers(const config::DaemonSettings& settings);
    void stop_workers();
    double uptime_ms() const {
        return std::chrono::duration<double, std::milli>(clock.now() - services.started_at).count();
    }

    struct Driver {
        ipc::SharedRegion page;
        std::unique_ptr<WorkerLink> link;
        std::unique_ptr<Worker> worker;
    };

    spdlog::logger& log;
    Clock clock;
    Services services;
    std::optional<ListenSocket> listener;
    std::unique_ptr<DpdkEnvironment> environment;
    std::vector<std::unique_ptr<FramePool>> pools;
    std::optional<CountersPage> no_counters;
    std::vector<std::unique_ptr<EmulatedNic>> nics;
    Waker answers;
    std::vector<Driver> drivers;
    std::unique_ptr<ControlServer> server;
    std::vector<std::thread> threads;
};

tl::expected<std::unique_ptr<Daemon>, std::string> Daemon::start(const config::DaemonSettings& settings,
                                                                 spdlog::logger& log) {
    auto impl = std::make_unique<Impl>(log);
    Services& services = impl->services;
    services.version = ROCEM_VERSION;
    services.socket_path = settings.socket.path;
    services.limits = settings.limits;
    services.clock = &impl->clock;
    services.started_at = impl->clock.now();
    services.log = &log;

    // The socket first: a second daemon is noticed at once, and early clients wait in the backlog.
    auto listener = ListenSocket::open(settings.socket);
    if (!listener) return Failure(listener.error());
    impl->listener.emplace(std::move(*listener));
    auto environment = DpdkEnvironment::create(settings.dpdk.memory_mib);
    if (!environment) return Failure(environment.error());
    impl->environment = std::move(*environment);
    log.debug("DPDK's environment is there after {:.0f} ms", impl->uptime_ms());
    if (auto problem = impl->make_workers(settings)) return Failure(*problem);
    if (auto problem = impl->make_nics(settings)) return Failure(*problem);
    impl->server = std::make_unique<ControlServer>(*impl->listener, services, impl->answers);
    impl->start_workers(settings);
    return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Daemon::~Daemon() = default;

int Daemon::run() {
    impl_->log.info("ready on {} with {} NICs after {:.0f} ms", impl_->services.socket_path,
                    impl_->nics.size(), impl_->uptime_ms());
    ::sd_notify(0, "READY=1");
    impl_->server->run();
    ::sd_notify(0, "STOPPING=1");
    impl_->stop_workers();
    impl_->log.info("ended");
    return 0;
}

std::optional<std::string> Daemon::Impl::make_workers(const config::DaemonSettings& settings) {
    if (!answers.valid()) return fmt::format("no file descriptor left: {}", std::strerror(errno));
    for (const config::WorkerSettings& worker : settings.workers) {
        Driver driver;
        driver.page = ipc::make_region("rocem-worker", sizeof(ipc::WorkerPage), ipc::Writers::maker);
        driver.link = std::make_unique<WorkerLink>(settings.limits.sessions_max, answers);
        if (!driver.page || !driver.link->command_waker.valid()) {
            return fmt::format("worker {}: no memory or descriptor left: {}", worker.name,
                               std::strerror(errno));
        }
        driver.worker = std::make_unique<Worker>(*driver.link, driver.page, clock, idle_times(worker.idle));
        drivers.push_back(std::move(driver));
    }
    for (std::size_t i = 0; i < drivers.size(); ++i) {
        services.workers.push_back(
            {.name = settings.workers[i].name, .link = drivers[i].link.get(), .page = &drivers[i].page});
    }
    return std::nullopt;
}

std::optional<std::string> Daemon::Impl::make_nics(const config::DaemonSettings& settings) {
    auto ports = make_ports(settings, clock, log);
    if (!ports) return ports.error();
    no_counters.emplace(std::vector<std::string>{});
    for (NicIndex i = 0; i < settings.nics.size(); ++i) {
        const config::NicSettings& nic = settings.nics[i];
        const auto seed = make_seed(settings, i);
        if (!seed) return fmt::format("{}: no random numbers: {}", nic.name, std::strerror(errno));
        NicPort& port = (*ports)[i];
        const std::string wire(port.port->description());
        pools.push_back(std::move(port.pool));
        nics.push_back(std::make_unique<EmulatedNic>(NicParts{.index = i,
                                                              .settings = nic,
                                                              .engine = engine_settings(settings.limits, nic),
                                                              .seed = *seed,
                                                              .pool = pools.back().get(),
                                                              .port = std::move(port.port)}));
        EmulatedNic& made = *nics.back();
        if (!made.counters().valid()) return fmt::format("{}: no memory for counters", nic.name);
        const std::size_t worker = worker_named(settings, nic.worker);
        if (!drivers[worker].worker->add_nic(made)) {
            return fmt::format("{}: the kernel does not watch its port: {}", nic.name, std::strerror(errno));
        }
        services.nics.push_back(
            {.settings = nic,
             .engine = made.core().engine.settings(),
             .worker = worker,
             .counters = &made.counters(),
             .shown_counters = settings.counters_page ? &made.counters() : &*no_counters});
        log.info("{}: {}, mac {}, {} GIDs, MTU {}, worker {}", nic.name, wire, nic.mac.to_string(),
                 services.nics.back().engine.gid_table.size(), nic.mtu.bytes(),
                 settings.workers[worker].name);
    }
    return std::nullopt;
}

void Daemon::Impl::start_workers(const config::DaemonSettings& settings) {
    for (std::size_t i = 0; i < drivers.size(); ++i) {
        threads.emplace_back([worker = drivers[i].worker.get(), name = settings.workers[i].name,
                              cpu = settings.workers[i].cpu, &log = log] {
            ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
            // Sleeps end when they are due, not 50 us later.
            ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
            if (cpu) {
                cpu_set_t cpus;
                CPU_ZERO(&cpus);
                CPU_SET(*cpu, &cpus);
                const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof(cpus), &cpus);
                if (error != 0) log.warn("worker {}: not on CPU {}: {}", name, *cpu, std::strerror(error));
            }
            worker->run();
        });
    }
}

void Daemon::Impl::stop_workers() {
    for (const Driver& driver : drivers)
        driver.worker->stop();
    for (std::thread& thread : threads)
        thread.join();
    threads.clear();
}

}  // namespace rocem::daemon
