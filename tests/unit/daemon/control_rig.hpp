// A control server on a thread of its own, with a worker that answers what the test says.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/control/control_server.hpp"
#include "ipc/control_codec.hpp"
#include "ipc/message_socket.hpp"

namespace rocem::test {

// Answers by default as a worker that grants everything.
daemon::Answer grant(const daemon::WorkerCommand& command);

class ControlRig {
 public:
    explicit ControlRig(config::LimitSettings limits = {});
    ~ControlRig();
    ControlRig(const ControlRig&) = delete;
    ControlRig& operator=(const ControlRig&) = delete;

    const std::string& path() const { return socket_.path; }
    // Ends the server; what it told its log.
    std::string stop();
    // Sends a violation to the session with this number, counted from 1.
    void violate(daemon::SessionId session, const std::string& text);

 private:
    void work();

    std::string directory_;
    config::SocketSettings socket_;
    std::ostringstream log_text_;
    spdlog::logger log_;
    daemon::Clock clock_;
    daemon::CountersPage counters_;
    ipc::SharedRegion page_;
    daemon::Waker answers_;
    daemon::WorkerLink link_;
    daemon::Services services_;
    std::optional<daemon::ListenSocket> listener_;
    std::optional<daemon::ControlServer> server_;
    std::mutex push_mutex_;  // the test pushes answers beside the worker
    std::atomic<bool> stopping_{false};
    std::thread worker_;
    std::thread control_;
};

// A client that sends what it likes.
class RawClient {
 public:
    explicit RawClient(const std::string& path);
    // Takes a socket that is not connected yet.
    RawClient(ipc::UniqueFd socket, const std::string& path);

    static ipc::UniqueFd make_socket();
    bool send(std::span<const std::byte> bytes, std::span<const int> fds = {});
    // False at end of file.
    bool receive(ipc::ReceivedMessage& message);
    // The server closed the connection (after at most a refusal, which is returned).
    std::string reason_of_end();

    template <class Reply, class Request>
    std::optional<Reply> ask(const Request& request) {
        if (!send(ipc::bytes_of(request)) || !receive(last)) return std::nullopt;
        if (ipc::check_reply(last.bytes(), request.header).error != ipc::DecodeError::none)
            return std::nullopt;
        if (last.size != sizeof(Reply)) return std::nullopt;
        return ipc::read_message<Reply>(last.bytes());
    }
    bool greet();
    bool open_nic(const std::string& name);

    int descriptor() const { return socket_.get(); }

    ipc::ReceivedMessage last;

 private:
    ipc::UniqueFd socket_;
};

rocem_abi_hello_request good_hello();

}  // namespace rocem::test
