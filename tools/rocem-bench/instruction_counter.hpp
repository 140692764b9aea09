// Instructions that this thread retires in user mode (perf_event_open(2)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ipc/unique_fd.hpp"

namespace rocem::tools {

class InstructionCounter {
 public:
    // The error says why the kernel does not count for us.
    static tl::expected<InstructionCounter, std::string> open();

    std::uint64_t read() const;  // since open

 private:
    explicit InstructionCounter(ipc::UniqueFd fd) : fd_(std::move(fd)) {}
    ipc::UniqueFd fd_;
};

}  // namespace rocem::tools
