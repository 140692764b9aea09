// The control thread: accepts clients and tools, and runs their sessions until a signal ends the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/control/command_queue.hpp"
#include "daemon/control/listen_socket.hpp"
#include "daemon/control/services.hpp"

namespace rocem::daemon {

class ControlServer {
 public:
    // Both outlive the server; services.directory is set to it. `answers` is the waker of every worker link.
    ControlServer(ListenSocket& listener, Services& services, Waker& answers);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    // Serves until SIGTERM or SIGINT, or stop(); then tells every client and closes its socket.
    void run();
    // From any thread.
    void stop();

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rocem::daemon
