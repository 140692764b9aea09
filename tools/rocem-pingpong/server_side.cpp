// Offers its buffer, posts receives, and checks what arrives.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "endpoint.hpp"
#include "failure.hpp"
#include "pattern.hpp"
#include "phases.hpp"
#include "report.hpp"
#include "sides.hpp"

namespace rocem::tools {
namespace {

class Server {
 public:
    Server(Endpoint& endpoint, Exchange& exchange, const Phase& phase)
        : endpoint_(endpoint), exchange_(exchange), phase_(phase) {
        if (is_atomic(phase.verb)) {
            script_.emplace(phase);
            const std::uint64_t word = script_->word();
            std::memcpy(endpoint.buffer().data(), &word, sizeof(word));
        }
    }

    // The digest of the phase.
    std::uint64_t run() {
        for (std::uint64_t done = 0; done < phase_.messages;) {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(phase_.depth, phase_.messages - done));
            prepare(done, count);
            exchange_.send(verdict_);
            if (takes_receive(phase_.verb)) collect_receives(done, count);
            const auto client = exchange_.receive<WindowDone>();
            take_stock(count);
            done += count;
            if (client.digest != digest_.value() || client.messages != done) refuse(done - count, count);
            verdict_.digest = digest_.value();
        }
        return digest_.value();
    }

    const WindowVerdict& verdict() const { return verdict_; }

 private:
    std::span<std::byte> message(std::uint32_t index) const {
        return endpoint_.buffer().subspan(index * slot_bytes(phase_), phase_.size);
    }

    void prepare(std::uint64_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            if (phase_.verb == Verb::read) fill(message(i), phase_.seed, first + i);
            if (!takes_receive(phase_.verb)) continue;
            // The bytes of a WRITE with immediate go where the client says.
            endpoint_.post_recv(i, phase_.verb == Verb::write_imm ? std::span<std::byte>() : message(i));
        }
    }

    void collect_receives(std::uint64_t first, std::uint32_t count) {
        for (std::uint32_t got = 0; got < count;) {
            for (const rocem_wc& wc : endpoint_.wait(&exchange_))
                check_receive(wc, first, got++);
        }
    }

    void check_receive(const rocem_wc& wc, std::uint64_t first, std::uint32_t index) const {
        const std::string which =
            std::string(name_of(phase_.verb)) + ": receive " + std::to_string(first + index);
        if (wc.status != ROCEM_WC_SUCCESS) {
            throw Failure(which + ": " + rocem_wc_status_str(wc.status) + " (status " +
                          std::to_string(wc.status) + ")");
        }
        if (wc.wr_id != index) throw Failure(which + ": completed out of order");
        if (wc.byte_len != phase_.size) throw Failure(which + ": byte_len is " + std::to_string(wc.byte_len));
        const bool immediate = (wc.wc_flags & ROCEM_WC_WITH_IMM) != 0;
        if (immediate != has_immediate(phase_.verb) ||
            (immediate && wc.immediate != static_cast<std::uint32_t>(first + index))) {
            throw Failure(which + ": the immediate is wrong");
        }
    }

    void take_stock(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            if (!script_) {
                digest_.add(message(i));
                continue;
            }
            const std::uint64_t original = script_->next().original;
            digest_.add(std::as_bytes(std::span(&original, 1)));
        }
        if (!script_) return;
        std::uint64_t word = 0;
        std::memcpy(&word, endpoint_.buffer().data(), sizeof(word));
        if (word != script_->word())
            throw Failure(std::string(name_of(phase_.verb)) + ": the word is wrong afterwards");
    }

    [[noreturn]] void refuse(std::uint64_t first, std::uint32_t count) {
        verdict_.good = 0;
        exchange_.send(verdict_);
        const std::string verb = name_of(phase_.verb);
        for (std::uint32_t i = 0; i < count && !script_; ++i) {
            if (const auto offset = first_difference(message(i), phase_.seed, first + i)) {
                throw Failure(verb + ": message " + std::to_string(first + i) + " of " +
                              std::to_string(phase_.size) + " bytes: byte " + std::to_string(*offset) +
                              " is not what was sent");
            }
        }
        throw Failure(verb + ": the digests differ after message " + std::to_string(first + count));
    }

    Endpoint& endpoint_;
    Exchange& exchange_;
    const Phase& phase_;
    std::optional<AtomicScript> script_;
    Digest digest_;
    WindowVerdict verdict_;
};

}  // namespace

std::string run_server(const Options& options) {
    Endpoint endpoint(options);
    ExchangeListener listener(options.peer);
    std::printf("ready %s\n", listener.where().c_str());
    std::fflush(stdout);
    Exchange exchange = listener.accept();
    const auto greeting = exchange.receive<Greeting>();
    const std::vector<Phase> phases = phases_of(greeting.plan);
    if (phases.empty()) throw Failure("the peer's plan is empty");
    endpoint.make_queues(buffer_bytes(phases), greeting.plan.depth,
                         static_cast<std::uint32_t>(~greeting.plan.seed));
    endpoint.connect(greeting.client, greeting.plan);
    const EndpointFacts own = endpoint.facts();
    exchange.send(own);

    const std::uint64_t retransmitted_before = endpoint.retransmitted_packets();
    Verified verified;
    Digest digests;
    WindowVerdict verdict;
    for (const Phase& phase : phases) {
        Server server(endpoint, exchange, phase);
        const std::uint64_t digest = server.run();
        digests.add(std::as_bytes(std::span(&digest, 1)));
        verified.messages += phase.messages;
        verified.bytes += phase.messages * phase.size;
        verdict = server.verdict();
        verdict.retransmitted_packets = endpoint.retransmitted_packets() - retransmitted_before;
        exchange.send(verdict);
    }
    verified.digest = digests.value();
    const RunFacts facts{endpoint.nic_name(),           gid_text(own.gid),
                         gid_text(greeting.client.gid), endpoint.mtu_bytes(),
                         verdict.retransmitted_packets, 0};
    return options.json ? server_json(facts, verified) : server_line(facts, verified);
}

}  // namespace rocem::tools
