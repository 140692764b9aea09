// Posts the work requests, times them, and checks what comes back.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "endpoint.hpp"
#include "failure.hpp"
#include "pattern.hpp"
#include "phases.hpp"
#include "report.hpp"
#include "sides.hpp"

namespace rocem::tools {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long a server may take to start.
constexpr int patience_ms = 30'000;

rocem_wr_opcode opcode_of(Verb verb) {
    switch (verb) {
        case Verb::send:
            return ROCEM_WR_SEND;
        case Verb::send_imm:
            return ROCEM_WR_SEND_WITH_IMM;
        case Verb::write:
            return ROCEM_WR_RDMA_WRITE;
        case Verb::write_imm:
            return ROCEM_WR_RDMA_WRITE_WITH_IMM;
        case Verb::read:
            return ROCEM_WR_RDMA_READ;
        case Verb::cas:
            return ROCEM_WR_ATOMIC_CMP_AND_SWP;
        case Verb::faa:
            return ROCEM_WR_ATOMIC_FETCH_AND_ADD;
    }
    return ROCEM_WR_SEND;
}

class Client {
 public:
    Client(Endpoint& endpoint, Exchange& exchange, const EndpointFacts& server, const Phase& phase)
        : endpoint_(endpoint), exchange_(exchange), server_(server), phase_(phase), posted_at_(phase.depth) {
        if (is_atomic(phase.verb)) script_.emplace(phase);
        result_.phase = phase;
    }

    PhaseResult run() {
        for (std::uint64_t done = 0; done < phase_.messages;) {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(phase_.depth, phase_.messages - done));
            if (!brings_data()) prepare(done, count);
            hear_verdict(done);
            const SteadyClock::time_point begin = SteadyClock::now();
            for (std::uint32_t i = 0; i < count; ++i)
                post(done, i);
            await(done, count);
            result_.seconds += std::chrono::duration<double>(SteadyClock::now() - begin).count();
            if (brings_data()) check_window(done, count);
            done += count;
            exchange_.send(WindowDone{digest_.value(), done});
        }
        last_verdict_ = hear_verdict(phase_.messages);
        result_.digest = digest_.value();
        return result_;
    }

    std::uint64_t retransmitted_by_server() const { return last_verdict_.retransmitted_packets; }

 private:
    bool brings_data() const { return phase_.verb == Verb::read || is_atomic(phase_.verb); }

    std::span<std::byte> message(std::uint32_t index) const {
        return endpoint_.buffer().subspan(index * slot_bytes(phase_), phase_.size);
    }

    void prepare(std::uint64_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            fill(message(i), phase_.seed, first + i);
            digest_.add(message(i));
        }
        // What the server has seen does not hold the window that was just prepared.
        digest_before_ = digest_prepared_;
        digest_prepared_ = digest_.value();
    }

    // Waits for the server's go, which says whether all before it was good.
    WindowVerdict hear_verdict(std::uint64_t done) {
        const auto verdict = exchange_.receive<WindowVerdict>();
        if (verdict.good == 0) {
            throw Failure(std::string(name_of(phase_.verb)) +
                          ": the server has received other bytes than were sent");
        }
        const bool all_done = done == phase_.messages;
        const std::uint64_t expected = brings_data() || all_done ? digest_.value() : digest_before_;
        if (done > 0 && verdict.digest != expected) {
            throw Failure(std::string(name_of(phase_.verb)) + ": the digests differ after message " +
                          std::to_string(done));
        }
        return verdict;
    }

    void post(std::uint64_t first, std::uint32_t index) {
        rocem_sge sge{};
        sge.addr = reinterpret_cast<std::uintptr_t>(message(index).data());
        sge.length = phase_.size;
        sge.lkey = endpoint_.lkey();
        rocem_send_wr wr{};
        wr.wr_id = index;
        wr.sg_list = &sge;
        wr.num_sge = phase_.size == 0 ? 0 : 1;
        wr.opcode = opcode_of(phase_.verb);
        wr.immediate = static_cast<std::uint32_t>(first + index);
        wr.rkey = server_.rkey;
        wr.remote_addr = server_.buffer + (script_ ? 0 : index * slot_bytes(phase_));
        if (script_) {
            const AtomicScript::Step step = script_->next();
            wr.compare_add = step.compare_add;
            wr.swap = step.swap;
            originals_.push_back(step.original);
        }
        posted_at_[index] = SteadyClock::now();
        endpoint_.post_send(wr);
    }

    void await(std::uint64_t first, std::uint32_t count) {
        for (std::uint32_t got = 0; got < count;) {
            const auto completions = endpoint_.wait(nullptr);
            const SteadyClock::time_point now = SteadyClock::now();
            for (const rocem_wc& wc : completions) {
                const std::string which = std::string(name_of(phase_.verb)) + ": message " +
                                          std::to_string(first + got) + " of " + std::to_string(phase_.size) +
                                          " bytes: ";
                if (wc.status != ROCEM_WC_SUCCESS) {
                    throw Failure(which + rocem_wc_status_str(wc.status) + " (status " +
                                  std::to_string(wc.status) + ")");
                }
                if (wc.wr_id != got) throw Failure(which + "completed out of order");
                const auto latency = std::chrono::nanoseconds(now - posted_at_[got]).count();
                result_.latencies.add(static_cast<std::uint64_t>(latency));
                ++got;
            }
        }
    }

    void check_window(std::uint64_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string which =
                std::string(name_of(phase_.verb)) + ": message " + std::to_string(first + i);
            if (script_) {
                std::uint64_t original = 0;
                std::memcpy(&original, message(i).data(), sizeof(original));
                if (original != originals_[i])
                    throw Failure(which + ": another original than expected came back");
            } else if (const auto offset = first_difference(message(i), phase_.seed, first + i)) {
                throw Failure(which + ": byte " + std::to_string(*offset) + " is not what the server holds");
            }
            digest_.add(message(i));
        }
        originals_.clear();
    }

    Endpoint& endpoint_;
    Exchange& exchange_;
    const EndpointFacts& server_;
    const Phase& phase_;
    std::vector<SteadyClock::time_point> posted_at_;
    std::vector<std::uint64_t> originals_;  // of the window
    std::optional<AtomicScript> script_;
    Digest digest_;
    std::uint64_t digest_prepared_ = 0;
    std::uint64_t digest_before_ = 0;
    PhaseResult result_;
    WindowVerdict last_verdict_;
};

Plan plan_of(const Options& options) {
    Plan plan;
    plan.iterations = options.iterations;
    plan.total_bytes = options.total_bytes;
    plan.seed = options.seed;
    std::copy(options.sizes.begin(), options.sizes.end(), plan.sizes.begin());
    plan.size_count = static_cast<std::uint32_t>(options.sizes.size());
    for (const Verb verb : options.verbs)
        plan.verbs |= 1u << static_cast<unsigned>(verb);
    plan.depth = options.depth;
    for (std::uint32_t mtu = ROCEM_MTU_256; mtu <= ROCEM_MTU_4096; ++mtu) {
        if (options.mtu == 128u << mtu) plan.mtu = mtu;
    }
    plan.timeout = options.timeout;
    plan.retry_cnt = options.retry_cnt;
    plan.rnr_retry = options.rnr_retry;
    return plan;
}

}  // namespace

std::string run_client(const Options& options) {
    const Plan plan = plan_of(options);
    const std::vector<Phase> phases = phases_of(plan);
    Endpoint endpoint(options);
    endpoint.make_queues(buffer_bytes(phases), plan.depth, static_cast<std::uint32_t>(plan.seed));
    Exchange exchange = Exchange::connect(options.peer, patience_ms);
    const EndpointFacts own = endpoint.facts();
    exchange.send(Greeting{plan, own});
    const auto server = exchange.receive<EndpointFacts>();
    endpoint.connect(server, plan);

    RunFacts facts{endpoint.nic_name(), gid_text(own.gid), gid_text(server.gid), endpoint.mtu_bytes(), 0, 0};
    const std::uint64_t retransmitted_before = endpoint.retransmitted_packets();
    std::vector<PhaseResult> results;
    try {
        for (const Phase& phase : phases) {
            Client client(endpoint, exchange, server, phase);
            results.push_back(client.run());
            facts.retransmitted_there = client.retransmitted_by_server();
        }
    } catch (const PeerGone&) {
        // The plain socket says that the program has ended; what its queue pair does about that, only a
        // packet tells. The daemon hears of a death by itself, and until then the queue pair answers.
        constexpr int probes_max = 100'000;
        const std::string success = rocem_wc_status_str(ROCEM_WC_SUCCESS);
        std::string answer = endpoint.probe(server);
        for (int i = 1; i < probes_max && answer == success; ++i)
            answer = endpoint.probe(server);
        throw Failure("the server has ended; a write to its queue pair now ends with: " + answer);
    }
    facts.retransmitted_here = endpoint.retransmitted_packets() - retransmitted_before;
    return options.json ? client_json(facts, results) : client_table(facts, results);
}

}  // namespace rocem::tools
