// The socket of one client: datagrams in and out, and how its end is noticed.
#pragma once

#include <functional>
#include <memory>

#include "daemon/control/asio.hpp"
#include "daemon/control/control_handlers.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::daemon {

// Never waits for the client: what its socket does not take stays in a queue, and no further request is read
// while it does, so that the queue is bounded by the requests that may be open.
class SessionLink : public std::enable_shared_from_this<SessionLink> {
 public:
    // `on_end` is called once, when the client is gone, was dropped, or its process has died.
    SessionLink(boost::asio::io_context& io, ipc::UniqueFd socket, ipc::UniqueFd process, SessionId id,
                const PeerIdentity& peer, const Services& services,
                std::function<void(const std::shared_ptr<SessionLink>&)> on_end);

    void start();
    void handle_answer(std::uint32_t ticket, Answer&& answer);
    // Sends what the socket takes now, then closes.
    void shut_down();

    SessionId id() const { return id_; }
    ControlHandlers& handlers() { return handlers_; }
    const ControlHandlers& handlers() const { return handlers_; }

 private:
    void wait_readable();
    void wait_writable();
    void wait_for_death();
    void receive();
    // Sends, ends or goes on reading: after everything that the handlers did.
    void settle();
    bool flush();
    void end(const std::string& reason);

    boost::asio::posix::stream_descriptor socket_;
    boost::asio::posix::stream_descriptor process_;  // a pidfd; closed where there is none
    SessionId id_;
    PeerIdentity peer_;
    const Services& services_;
    std::function<void(const std::shared_ptr<SessionLink>&)> on_end_;
    ControlHandlers handlers_;
    ipc::ReceivedMessage message_;
    bool reading_ = false;
    bool writing_ = false;
    bool ended_ = false;
};

}  // namespace rocem::daemon
