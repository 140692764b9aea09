#include "daemon/control/control_server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/control/asio.hpp"
#include "daemon/control/session_link.hpp"

namespace rocem::daemon {
namespace {

using boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

// How long the listener rests when the process has no descriptor left even to turn a client away.
constexpr auto accept_pause = std::chrono::milliseconds(100);
// Why a connection is refused stands in the answer to its hello, which is not awaited: a client counts
// from 1.
constexpr rocem_abi_header unread_hello{sizeof(rocem_abi_hello_request), ROCEM_ABI_HELLO, 0, 1, 0};

ipc::UniqueFd open_reserve() {
    return ipc::UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

std::optional<PeerIdentity> identify(int socket) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return PeerIdentity{.pid = credentials.pid, .uid = credentials.uid};
}

// Readable when the process has ended; invalid where the daemon cannot see it.
ipc::UniqueFd watch_process(pid_t pid) {
    if (pid <= 0) return ipc::UniqueFd();
    return ipc::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

class ControlServer::Impl final : public SessionDirectory {
 public:
    Impl(ListenSocket& listener, Services& services, Waker& answers)
        : services_(services),
          answers_(answers),
          listener_(io_, ::fcntl(listener.descriptor(), F_DUPFD_CLOEXEC, 0)),
          answer_event_(io_, ::fcntl(answers.descriptor(), F_DUPFD_CLOEXEC, 0)),
          signals_(io_, SIGTERM, SIGINT),
          pause_(io_),
          reserve_(open_reserve()) {
        services_.directory = this;
    }

    void run() {
        signals_.async_wait([this](const error_code& error, int signal) {
            if (error) return;
            services_.log->info("{} received", signal == SIGTERM ? "SIGTERM" : "SIGINT");
            stop_serving();
        });
        wait_for_clients();
        wait_for_answers();
        io_.run();
    }

    void stop() {
        boost::asio::post(io_, [this] { stop_serving(); });
    }

    std::vector<SessionFacts> sessions() const override {
        std::vector<SessionFacts> facts;
        for (const auto& [id, session] : sessions_)
            facts.push_back(session->handlers().facts());
        return facts;
    }

 private:
    void wait_for_clients() {
        listener_.async_wait(Descriptor::wait_read, [this](const error_code& error) {
            if (!error && accept_clients()) wait_for_clients();
        });
    }

    // False if the listener rests: the pause goes on then.
    bool accept_clients() {
        for (;;) {
            ipc::UniqueFd socket(
                ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (socket) {
                admit(std::move(socket));
                continue;
            }
            if (errno == EMFILE || errno == ENFILE) return turn_away();
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno != EAGAIN) services_.log->error("accept: {}", std::strerror(errno));
            return true;
        }
    }

    // Without a descriptor to spare a connection stays in the backlog, and would wake us for ever: give up
    // the reserve to take it, say why, and close it.
    bool turn_away() {
        reserve_.reset();
        ipc::UniqueFd socket(
            ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        const bool turned_away = static_cast<bool>(socket);
        if (socket) say_no(socket.get(), EMFILE, "the daemon has no file descriptor left (RLIMIT_NOFILE)");
        socket.reset();
        reserve_ = open_reserve();
        if (turned_away) return true;
        pause_.expires_after(accept_pause);
        pause_.async_wait([this](const error_code& error) {
            if (!error) wait_for_clients();
        });
        return false;
    }

    void say_no(int socket, int error, const std::string& reason) {
        services_.log->warn("a client is turned away: {}", reason);
        const rocem_abi_refusal refusal = ipc::make_refusal(unread_hello, error, reason);
        ipc::send_message(socket, ipc::bytes_of(refusal), {}, ipc::Wait::dont_wait);
    }

    void admit(ipc::UniqueFd socket) {
        if (sessions_.size() >= services_.limits.sessions_max) {
            say_no(socket.get(), EUSERS, "sessions_max is reached");
            return;
        }
        const auto peer = identify(socket.get());
        if (!peer) {
            say_no(socket.get(), EACCES, "the kernel does not say who the client is");
            return;
        }
        const SessionId id = next_session_++;
        auto session = std::make_shared<SessionLink>(
            io_, std::move(socket), watch_process(peer->pid), id, *peer, services_,
            [this](const std::shared_ptr<SessionLink>& ended) { forget_if_closed(*ended); });
        sessions_.emplace(id, session);
        session->start();
    }

    void wait_for_answers() {
        answer_event_.async_wait(Descriptor::wait_read, [this](const error_code& error) {
            if (error) return;
            answers_.clear();
            for (const WorkerView& worker : services_.workers) {
                while (auto answer = worker.link->answers.try_pop())
                    dispatch(std::move(*answer));
            }
            wait_for_answers();
        });
    }

    void dispatch(WorkerAnswer&& answer) {
        const auto found = sessions_.find(answer.session);
        if (found == sessions_.end()) return;
        const std::shared_ptr<SessionLink> session = found->second;
        session->handle_answer(answer.request_id, std::move(answer.answer));
        forget_if_closed(*session);
    }

    // A session stays until its worker has let go of the memory that it borrowed.
    void forget_if_closed(SessionLink& session) {
        if (session.handlers().closed()) sessions_.erase(session.id());
    }

    void stop_serving() {
        error_code ignored;
        listener_.cancel(ignored);
        pause_.cancel();
        const auto sessions = sessions_;
        for (const auto& [id, session] : sessions)
            session->shut_down();
        io_.stop();
    }

    Services& services_;
    Waker& answers_;
    boost::asio::io_context io_;
    Descriptor listener_;
    Descriptor answer_event_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer pause_;
    ipc::UniqueFd reserve_;  // see turn_away
    std::map<SessionId, std::shared_ptr<SessionLink>> sessions_;
    SessionId next_session_ = 1;
};

ControlServer::ControlServer(ListenSocket& listener, Services& services, Waker& answers)
    : impl_(std::make_unique<Impl>(listener, services, answers)) {}

ControlServer::~ControlServer() = default;

void ControlServer::run() {
    impl_->run();
}

void ControlServer::stop() {
    impl_->stop();
}

}  // namespace rocem::daemon
