// The process: what is made at the start, and taken down in the opposite order at the end.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "config/settings.hpp"

namespace rocem::daemon {

class Daemon {
 public:
    // Socket, EAL, ports, NICs, workers. The error is a sentence for the operator.
    static tl::expected<std::unique_ptr<Daemon>, std::string> start(const config::DaemonSettings& settings,
                                                                    spdlog::logger& log);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // Serves until SIGTERM or SIGINT; the exit status.
    int run();

 private:
    struct Impl;
    explicit Daemon(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rocem::daemon
