#include "instruction_counter.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rocem::tools {

tl::expected<InstructionCounter, std::string> InstructionCounter::open() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    constexpr int this_thread = 0;
    constexpr int any_cpu = -1;
    constexpr int no_group = -1;
    const long fd =
        syscall(SYS_perf_event_open, &attributes, this_thread, any_cpu, no_group, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return tl::unexpected(std::string("perf_event_open: ") + std::strerror(errno));
    return InstructionCounter(ipc::UniqueFd(static_cast<int>(fd)));
}

std::uint64_t InstructionCounter::read() const {
    std::uint64_t count = 0;
    if (::read(fd_.get(), &count, sizeof count) != sizeof count) return 0;
    return count;
}

}  // namespace rocem::tools
