#include "ask.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "ipc/control_codec.hpp"
#include "ipc/message_socket.hpp"
#include "ipc/shared_region.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::tools {
namespace {

using Failure = tl::unexpected<std::string>;

tl::expected<ipc::UniqueFd, std::string> connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return Failure(
            fmt::format("the socket's path {} is longer than {} bytes", path, sizeof(address.sun_path) - 1));
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ipc::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket) return Failure(fmt::format("cannot make a socket: {}", std::strerror(errno)));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
        return Failure(fmt::format("cannot reach a daemon at {}: {}{}", path, std::strerror(errno),
                                   nobody ? " (is rocemd running?)" : ""));
    }
    return socket;
}

// Sends a request; fills `message` with the datagram that answers it.
std::string exchange(int socket, std::span<const std::byte> request, const rocem_abi_header& header,
                     ipc::ReceivedMessage& message) {
    if (ipc::send_message(socket, request, {}, ipc::Wait::block) != ipc::Transfer::done) {
        // A daemon that refuses a connection says why before it closes: look for that.
        if (errno != EPIPE && errno != ECONNRESET)
            return fmt::format("cannot send: {}", std::strerror(errno));
    }
    if (ipc::receive_message(socket, message, ipc::Wait::block) != ipc::Transfer::done) {
        return "the daemon closed the connection";
    }
    if (message.size == sizeof(rocem_abi_refusal)) {
        const auto refusal = ipc::read_message<rocem_abi_refusal>(message.bytes());
        if (refusal.header.error != 0) return std::string(ipc::text_in(refusal.reason));
    }
    const ipc::CheckedHeader checked = ipc::check_reply(message.bytes(), header);
    if (checked.error != ipc::DecodeError::none) {
        return fmt::format("the daemon's answer is not understood: {}", ipc::sentence_of(checked.error));
    }
    return {};
}

tl::expected<std::string, std::string> read_document(const ipc::ReceivedMessage& message,
                                                     std::uint64_t bytes) {
    if (bytes == 0) return std::string();
    const ipc::Mapping document = ipc::map_sealed(message.fds[0].get(), bytes, ipc::Access::read_only);
    if (!document) return Failure(fmt::format("cannot read the daemon's answer: {}", std::strerror(errno)));
    return std::string(reinterpret_cast<const char*>(document.data()), bytes);
}

}  // namespace

tl::expected<std::string, std::string> ask_daemon(const std::string& socket_path,
                                                  const std::string& question) {
    const auto socket = connect_to(socket_path);
    if (!socket) return Failure(socket.error());
    ipc::ReceivedMessage message;

    auto hello = ipc::make_request<rocem_abi_hello_request>(ipc::MessageType::hello, 1);
    hello.magic = ROCEM_ABI_MAGIC;
    hello.version_min = ROCEM_ABI_VERSION_MIN;
    hello.version_max = ROCEM_ABI_VERSION_MAX;
    ipc::set_text(hello.program, "rocemctl");
    if (auto problem = exchange(socket->get(), ipc::bytes_of(hello), hello.header, message);
        !problem.empty()) {
        return Failure(problem);
    }

    auto request = ipc::make_request<rocem_abi_management_request>(ipc::MessageType::management, 2);
    if (question.size() > sizeof(request.text)) return Failure("the question is too long");
    std::memcpy(request.text, question.data(), question.size());
    request.text_bytes = static_cast<std::uint32_t>(question.size());
    if (auto problem = exchange(socket->get(), ipc::bytes_of(request), request.header, message);
        !problem.empty()) {
        return Failure(problem);
    }
    if (message.fd_count != 1) return Failure("the daemon's answer carries no document");
    return read_document(message, ipc::read_message<rocem_abi_management_reply>(message.bytes()).text_bytes);
}

}  // namespace rocem::tools
