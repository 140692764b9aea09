#include "exchange.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "failure.hpp"

namespace rocem::tools {
namespace {

bool is_path(const std::string& peer) {
    return peer.find('/') != std::string::npos;
}

[[noreturn]] void fail(const std::string& peer, const std::string& what) {
    throw Failure("--peer: " + peer + ": " + what);
}

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
};

Address unix_address(const std::string& path) {
    Address address;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.size() >= sizeof(name.sun_path)) fail(path, "the path is longer than a socket's name may be");
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    std::memcpy(&address.storage, &name, sizeof(name));
    address.length = sizeof(name);
    return address;
}

// "host:port", "[v6]:port", ":port" (server only: any address).
Address internet_address(const std::string& peer, bool listening) {
    const std::size_t colon = peer.rfind(':');
    if (colon == std::string::npos) fail(peer, "expected HOST:PORT, or a path with a /");
    std::string host = peer.substr(0, colon);
    const std::string port = peer.substr(colon + 1);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = listening ? AI_PASSIVE : 0;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
    if (error != 0) fail(peer, ::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    Address address;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.length = found->ai_addrlen;
    return address;
}

Address address_of(const std::string& peer, bool listening) {
    return is_path(peer) ? unix_address(peer) : internet_address(peer, listening);
}

int make_socket(const std::string& peer, const Address& address) {
    const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(peer, std::strerror(errno));
    return fd;
}

void send_small_things_at_once(int fd, int family) {
    const int on = 1;
    if (family != AF_UNIX) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// The listener's address in the form of --peer.
std::string bound_to(int fd, const std::string& peer) {
    if (is_path(peer)) return peer;
    sockaddr_storage storage{};
    socklen_t length = sizeof(storage);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length);
    in_port_t port = 0;
    if (storage.ss_family == AF_INET) {
        port = reinterpret_cast<const sockaddr_in*>(&storage)->sin_port;
    } else {
        port = reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port;
    }
    return peer.substr(0, peer.rfind(':')) + ":" + std::to_string(ntohs(port));
}

}  // namespace

Exchange::~Exchange() {
    if (fd_ >= 0) ::close(fd_);
}

Exchange Exchange::connect(const std::string& peer, int patience_ms) {
    constexpr int pause_ms = 20;
    const Address address = address_of(peer, false);
    for (;;) {
        Exchange exchange(make_socket(peer, address));
        if (::connect(exchange.fd_, address.get(), address.length) == 0) {
            send_small_things_at_once(exchange.fd_, address.family());
            return exchange;
        }
        const bool not_yet = errno == ENOENT || errno == ECONNREFUSED;
        if (!not_yet || patience_ms <= 0) fail(peer, std::string("no server: ") + std::strerror(errno));
        ::poll(nullptr, 0, pause_ms);
        patience_ms -= pause_ms;
    }
}

void Exchange::send_bytes(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const std::byte*>(bytes);
    while (count > 0) {
        const ssize_t sent = ::send(fd_, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw PeerGone();
        at += sent;
        count -= static_cast<std::size_t>(sent);
    }
}

void Exchange::receive_bytes(void* bytes, std::size_t count) {
    auto* at = static_cast<std::byte*>(bytes);
    while (count > 0) {
        const ssize_t got = ::recv(fd_, at, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw PeerGone();
        at += got;
        count -= static_cast<std::size_t>(got);
    }
}

bool Exchange::peer_gone() const {
    char byte = 0;
    const ssize_t got = ::recv(fd_, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

ExchangeListener::ExchangeListener(const std::string& peer) {
    const Address address = address_of(peer, true);
    fd_ = make_socket(peer, address);
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (::bind(fd_, address.get(), address.length) != 0 || ::listen(fd_, 1) != 0) {
        const int error = errno;
        ::close(fd_);
        fail(peer, std::string("cannot listen: ") + std::strerror(error));
    }
    unlink_ = is_path(peer);
    where_ = bound_to(fd_, peer);
}

ExchangeListener::~ExchangeListener() {
    if (fd_ >= 0) ::close(fd_);
    if (unlink_) ::unlink(where_.c_str());
}

Exchange ExchangeListener::accept() {
    for (;;) {
        const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) {
            int family = 0;
            socklen_t length = sizeof(family);
            ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length);
            send_small_things_at_once(fd, family);
            return Exchange(fd);
        }
        if (errno != EINTR && errno != ECONNABORTED)
            fail(where_, std::string("accept: ") + std::strerror(errno));
    }
}

}  // namespace rocem::tools
