// The plain socket on which the two programs meet: what a connection manager would do, and the beat of the
// windows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "options.hpp"

namespace rocem::tools {

// How a peer is reached and what it offers.
struct EndpointFacts {
    std::array<std::uint8_t, 16> gid{};
    std::uint64_t buffer = 0;  // address of slot 0, as the r_key counts
    std::uint32_t rkey = 0;
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;         // the first that it sends
    std::uint32_t active_mtu = 0;  // enum rocem_mtu
    std::uint32_t max_rd_atomic = 0;
    std::uint32_t reserved = 0;
};

// What the client wants done.
struct Plan {
    std::uint32_t magic = 0x50474e50;  // "PNGP"
    std::uint32_t version = 1;
    std::uint64_t iterations = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t seed = 0;
    std::array<std::uint32_t, sizes_max> sizes{};
    std::uint32_t size_count = 0;
    std::uint32_t verbs = 0;  // bit n: Verb n
    std::uint32_t depth = 0;
    std::uint32_t mtu = 0;  // enum rocem_mtu; 0: the smaller of both
    std::uint32_t timeout = 0;
    std::uint32_t retry_cnt = 0;
    std::uint32_t rnr_retry = 0;
    std::uint32_t reserved = 0;
};

struct Greeting {
    Plan plan;
    EndpointFacts client;
};

// Client to server after each window.
struct WindowDone {
    std::uint64_t digest = 0;  // of the phase so far
    std::uint64_t messages = 0;
};

// Server to client: before each window (go), and after the last one of a phase.
struct WindowVerdict {
    std::uint64_t digest = 0;
    std::uint64_t retransmitted_packets = 0;  // by the server's NIC since the start
    std::uint32_t good = 1;                   // 0: the server has seen wrong bytes and ends
    std::uint32_t reserved = 0;
};

class Exchange {
 public:
    Exchange() = default;
    Exchange(Exchange&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Exchange& operator=(Exchange&&) = delete;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    // Waits up to `patience_ms` for a server. Throws Failure.
    static Exchange connect(const std::string& peer, int patience_ms);

    template <class Value>
    void send(const Value& value) {
        send_bytes(&value, sizeof(value));
    }
    // Throws PeerGone at the end of file.
    template <class Value>
    Value receive() {
        Value value;
        receive_bytes(&value, sizeof(value));
        return value;
    }

    int descriptor() const { return fd_; }
    // Whether the other end is closed. Never blocks.
    bool peer_gone() const;

 private:
    friend class ExchangeListener;
    explicit Exchange(int fd) : fd_(fd) {}
    void send_bytes(const void* bytes, std::size_t count);
    void receive_bytes(void* bytes, std::size_t count);

    int fd_ = -1;
};

class ExchangeListener {
 public:
    // Throws Failure.
    explicit ExchangeListener(const std::string& peer);
    ~ExchangeListener();
    ExchangeListener(const ExchangeListener&) = delete;
    ExchangeListener& operator=(const ExchangeListener&) = delete;

    // As a client's --peer wants it.
    const std::string& where() const { return where_; }
    Exchange accept();

 private:
    int fd_ = -1;
    std::string where_;
    bool unlink_ = false;
};

}  // namespace rocem::tools
