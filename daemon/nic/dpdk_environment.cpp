#include "daemon/nic/dpdk_environment.hpp"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>

#include <vector>

namespace rocem::daemon {
namespace {

int first_cpu(const cpu_set_t& cpus) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) return cpu;
    }
    return 0;
}

}  // namespace

tl::expected<std::unique_ptr<DpdkEnvironment>, std::string> DpdkEnvironment::create(
    std::uint32_t memory_mib) {
    // EAL pins the thread that calls it to one CPU. Workers are threads of our own and choose for themselves.
    cpu_set_t before;
    CPU_ZERO(&before);
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    std::vector<std::string> arguments = {"rocemd",
                                          "--no-huge",
                                          "--no-pci",
                                          "--no-shconf",
                                          "--no-telemetry",
                                          "--log-level=error",
                                          "--lcores=0@" + std::to_string(first_cpu(before)),
                                          "-m",
                                          std::to_string(memory_mib)};
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    const int parsed = rte_eal_init(static_cast<int>(argv.size()), argv.data());
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    if (parsed < 0) {
        return tl::unexpected("DPDK's environment does not start with " + std::to_string(memory_mib) +
                              " MiB: " + rte_strerror(rte_errno));
    }
    return std::unique_ptr<DpdkEnvironment>(new DpdkEnvironment);
}

DpdkEnvironment::~DpdkEnvironment() {
    rte_eal_cleanup();
}

}  // namespace rocem::daemon
