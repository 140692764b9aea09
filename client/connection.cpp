#include "client/connection.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "client/error.hpp"

namespace rocem::client {
namespace {

// Where a daemon may listen, the best first.
std::vector<std::string> candidate_paths(const char* given) {
    if (given != nullptr) return {given};
    if (const char* named = std::getenv("ROCEM_SOCKET"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> paths;
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0') {
        paths.push_back(std::string(runtime) + "/rocem/rocemd.sock");
    }
    paths.emplace_back("/run/rocem/rocemd.sock");
    return paths;
}

// 0 or an errno.
int connect_to(const std::string& path, ipc::UniqueFd& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ipc::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!fd) return errno;
    while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        if (errno != EINTR) return errno;
    }
    socket = std::move(fd);
    return 0;
}

// The daemon closes a session that breaks the ABI in mid-answer, too: one word for every way of its end.
constexpr const char* daemon_gone = "the daemon is gone";

}  // namespace

int Connection::open(const char* call, const char* socket_path) {
    const std::vector<std::string> paths = candidate_paths(socket_path);
    std::string tried;
    int error = ENOENT;
    for (const std::string& path : paths) {
        const int result = connect_to(path, socket_);
        if (result == 0) return say_hello(call);
        // A daemon that is there and refuses says more than a path that is not there.
        if (tried.empty() || result != ENOENT) error = result;
        tried += (tried.empty() ? "" : ", ") + path + " (" + std::strerror(result) + ")";
    }
    return fail(error, "%s: no daemon at %s", call, tried.c_str());
}

int Connection::say_hello(const char* call) {
    auto request = ipc::make_request<rocem_abi_hello_request>(ipc::MessageType::hello, 0);
    request.magic = ROCEM_ABI_MAGIC;
    request.version_min = ROCEM_ABI_VERSION_MIN;
    request.version_max = ROCEM_ABI_VERSION_MAX;
    ipc::set_text(request.program, program_invocation_short_name);
    const int error = ask(call, ipc::MessageType::hello, request, hello_);
    if (error != 0) return error;
    if (hello_.magic != ROCEM_ABI_MAGIC) return broken(call, EPROTO, "what answers is no rocemd");
    if (ipc::agree_on_version(hello_.version, hello_.version) == 0) {
        return broken(call, EPROTONOSUPPORT,
                      "the daemon chose an ABI version that this library does not speak");
    }
    return 0;
}

int Connection::status(const char* call) const {
    if (forked()) return fail(ENODEV, "%s: this object belongs to the parent process", call);
    if (gone()) return fail(EIO, "%s: %s", call, daemon_gone);
    return 0;
}

int Connection::broken(const char* call, int error, const char* why) {
    mark_gone();
    return fail(error, "%s: %s", call, why);
}

int Connection::exchange(const char* call, std::span<const std::byte> request, const rocem_abi_header& header,
                         ipc::ReceivedMessage& answer) {
    if (const int error = status(call); error != 0) return error;
    switch (ipc::send_message(socket_.get(), request, {}, ipc::Wait::block)) {
        case ipc::Transfer::done:
        case ipc::Transfer::closed:  // a daemon that turns a client away has said why before it closed
            break;
        default:
            return broken(call, EIO, std::strerror(errno));
    }
    switch (ipc::receive_message(socket_.get(), answer, ipc::Wait::block)) {
        case ipc::Transfer::done:
            break;
        case ipc::Transfer::closed:
            return broken(call, EIO, daemon_gone);
        case ipc::Transfer::malformed:
            return broken(call, EPROTO, "the daemon's answer is no message of this ABI");
        default:
            return broken(call, EIO, std::strerror(errno));
    }
    const ipc::CheckedHeader checked = ipc::check_reply(answer.bytes(), header);
    if (checked.error != ipc::DecodeError::none) return broken(call, EPROTO, ipc::sentence_of(checked.error));
    if (checked.header.error != 0) {
        const auto refusal = ipc::read_message<rocem_abi_refusal>(answer.bytes());
        const std::string reason(ipc::text_in(refusal.reason));
        const int error = static_cast<int>(refusal.header.error);
        return fail(error > 0 ? error : EPROTO, "%s: %s", call, reason.c_str());
    }
    if (answer.fd_count != ipc::find_command(header.type)->reply_fds) {
        return broken(call, EPROTO, "the daemon's answer does not carry its descriptors");
    }
    return 0;
}

bool Connection::probe_gone() {
    if (gone()) return true;
    char byte = 0;
    const ssize_t got = ::recv(socket_.get(), &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) mark_gone();
    return gone();
}

void Connection::abandon() {
    forked_.store(true, std::memory_order_relaxed);
    socket_.reset();
}

}  // namespace rocem::client
