// The control socket of one session: requests and their answers, one at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "ipc/control_codec.hpp"
#include "ipc/message_socket.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::client {

using Fds = std::array<ipc::UniqueFd, ROCEM_ABI_FDS_MAX>;

class Connection {
 public:
    // Connects and says hello. 0 or an errno, with words for `call`.
    int open(const char* call, const char* socket_path);

    // 0; EIO: the daemon is gone; ENODEV: this is a forked child's copy. Says so in words for `call`.
    int status(const char* call) const;
    bool gone() const { return gone_.load(std::memory_order_acquire); }
    bool forked() const { return forked_.load(std::memory_order_relaxed); }

    // Fills in the request's header, sends it, and waits for the answer. The daemon's refusal is the return
    // value, its reason the words. The descriptors that the command's answer carries are all there on
    // success.
    template <class Request, class Reply>
    int ask(const char* call, ipc::MessageType type, Request& request, Reply& reply, Fds& fds) {
        request.header = ipc::make_request<Request>(type, 0).header;
        ipc::ReceivedMessage answer;
        const std::lock_guard lock(mutex_);
        request.header.request_id = ++last_request_id_;
        const int error = exchange(call, ipc::bytes_of(request), request.header, answer);
        if (error != 0) return error;
        reply = ipc::read_message<Reply>(answer.bytes());
        fds = std::move(answer.fds);
        return 0;
    }
    template <class Request, class Reply>
    int ask(const char* call, ipc::MessageType type, Request& request, Reply& reply) {
        Fds none;
        return ask(call, type, request, reply, none);
    }

    // Looks whether the daemon has closed its end. One system call that never blocks.
    bool probe_gone();
    void mark_gone() { gone_.store(true, std::memory_order_release); }

    // In a forked child: this copy answers ENODEV from now on and lets go of the socket, which stays the
    // parent's.
    void abandon();

    const rocem_abi_hello_reply& hello() const { return hello_; }

 private:
    int exchange(const char* call, std::span<const std::byte> request, const rocem_abi_header& header,
                 ipc::ReceivedMessage& answer);
    int broken(const char* call, int error, const char* why);
    int say_hello(const char* call);

    ipc::UniqueFd socket_;
    std::mutex mutex_;
    std::uint32_t last_request_id_ = 0;
    std::atomic<bool> gone_{false};
    std::atomic<bool> forked_{false};
    rocem_abi_hello_reply hello_{};
};

}  // namespace rocem::client
