#include "daemon/control/session_link.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace rocem::daemon {
namespace {

// Datagrams read in a row before other sessions get their turn.
constexpr int messages_per_turn = 16;

using Descriptor = boost::asio::posix::stream_descriptor;

}  // namespace

SessionLink::SessionLink(boost::asio::io_context& io, ipc::UniqueFd socket, ipc::UniqueFd process,
                         SessionId id, const PeerIdentity& peer, const Services& services,
                         std::function<void(const std::shared_ptr<SessionLink>&)> on_end)
    : socket_(io, socket.release()),
      process_(io),
      id_(id),
      peer_(peer),
      services_(services),
      on_end_(std::move(on_end)),
      handlers_(id, peer, services) {
    if (process) process_.assign(process.release());
}

void SessionLink::start() {
    wait_readable();
    if (process_.is_open()) wait_for_death();
}

void SessionLink::handle_answer(std::uint32_t ticket, Answer&& answer) {
    handlers_.handle_answer(ticket, std::move(answer));
    settle();
}

void SessionLink::shut_down() {
    if (ended_) return;
    handlers_.announce_shutdown();
    flush();
    end("the daemon ends");
}

void SessionLink::wait_readable() {
    if (reading_ || ended_) return;
    reading_ = true;
    socket_.async_wait(Descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                           self->reading_ = false;
                           if (!error && !self->ended_) self->receive();
                       });
}

void SessionLink::wait_writable() {
    if (writing_ || ended_) return;
    writing_ = true;
    socket_.async_wait(Descriptor::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                           self->writing_ = false;
                           if (!error && !self->ended_) self->settle();
                       });
}

void SessionLink::wait_for_death() {
    process_.async_wait(Descriptor::wait_read,
                        [self = shared_from_this()](const boost::system::error_code& error) {
                            if (!error) self->end("its process has ended");
                        });
}

void SessionLink::receive() {
    for (int i = 0; i < messages_per_turn && handlers_.may_receive() && handlers_.outgoing().empty(); ++i) {
        switch (ipc::receive_message(socket_.native_handle(), message_, ipc::Wait::dont_wait)) {
            case ipc::Transfer::done:
                handlers_.handle(message_);
                break;
            case ipc::Transfer::would_block:
                return settle();
            case ipc::Transfer::closed:
                return end("closed by the client");
            case ipc::Transfer::malformed:
                handlers_.end("a message that is too long or carries too many file descriptors");
                return settle();
            case ipc::Transfer::failed:
                return end(std::strerror(errno));
        }
        if (!flush()) break;
    }
    settle();
}

void SessionLink::settle() {
    if (ended_) return;
    const bool all_sent = flush();
    if (ended_) return;
    if (handlers_.end_reason()) {
        services_.log->warn("session {}: pid {}, uid {} is dropped: {}", id_, peer_.pid, peer_.uid,
                            *handlers_.end_reason());
        return end("dropped");
    }
    if (!all_sent) return wait_writable();
    if (handlers_.may_receive()) wait_readable();
}

// Whether nothing is left to send.
bool SessionLink::flush() {
    auto& outgoing = handlers_.outgoing();
    while (!outgoing.empty() && !ended_) {
        const OutgoingMessage& message = outgoing.front();
        std::array<int, ROCEM_ABI_FDS_MAX> fds{};
        std::size_t count = 0;
        for (const ipc::UniqueFd& fd : message.fds)
            fds[count++] = fd.get();
        const auto sent = ipc::send_message(socket_.native_handle(), message.bytes,
                                            std::span(fds).first(count), ipc::Wait::dont_wait);
        if (sent == ipc::Transfer::would_block) return false;
        if (sent != ipc::Transfer::done) {
            end("its socket is broken");
            return true;
        }
        outgoing.pop_front();
    }
    return true;
}

void SessionLink::end(const std::string& reason) {
    if (ended_) return;
    ended_ = true;
    services_.log->info("session {}: pid {} ended: {}", id_, peer_.pid, reason);
    boost::system::error_code ignored;
    socket_.close(ignored);
    process_.close(ignored);
    handlers_.begin_close();
    on_end_(shared_from_this());
}

}  // namespace rocem::daemon
