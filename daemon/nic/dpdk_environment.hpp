// DPDK's environment: made once for the process, before any port or pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace rocem::daemon {

class DpdkEnvironment {
 public:
    // No huge pages, no PCI probe, no files: any user may, several side by side. Takes 110-140 ms (TSC
    // calibration). EAL can be initialised once per process: a second call after the first object is gone
    // fails. The calling thread keeps its CPUs.
    static tl::expected<std::unique_ptr<DpdkEnvironment>, std::string> create(std::uint32_t memory_mib);
    ~DpdkEnvironment();
    DpdkEnvironment(const DpdkEnvironment&) = delete;
    DpdkEnvironment& operator=(const DpdkEnvironment&) = delete;

 private:
    DpdkEnvironment() = default;
};

}  // namespace rocem::daemon
