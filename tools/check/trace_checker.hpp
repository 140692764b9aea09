// Judges RoCE connections from a trace alone: frames in order, with their times. Written from the rules; it
// knows no engine.
//
//   TraceChecker checker(options);
//   checker.see(time, packet, number);   // for every frame
//   Report report = checker.finish();
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "protocol/packet.hpp"
#include "tools/check/options.hpp"
#include "tools/check/report.hpp"

namespace rocem::tools {

class TraceChecker {
 public:
    explicit TraceChecker(const CheckOptions& options);
    ~TraceChecker();
    TraceChecker(TraceChecker&&) noexcept;
    TraceChecker& operator=(TraceChecker&&) noexcept;

    // A frame that parse_frame understood (others are only to be counted: see_other). Times do not decrease.
    // number: as findings shall name it; capture tools count from 1. The packet's bytes are not kept.
    void see(std::chrono::nanoseconds time, const protocol::Packet& packet, std::uint64_t number);
    void see_other();

    // Judges what was seen. The checker is then as new.
    Report finish();

 private:
    struct Trace;
    CheckOptions options_;
    std::unique_ptr<Trace> trace_;
};

}  // namespace rocem::tools
