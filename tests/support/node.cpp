#include "tests/support/node.hpp"

#include <algorithm>
#include <stdexcept>

#include "protocol/icrc.hpp"
#include "protocol/packet.hpp"
#include "tests/support/lines.hpp"

namespace rocem::test {
namespace {

constexpr std::byte unwritten{0xa5};

engine::Seed seed_of(std::uint64_t number) {
    engine::Seed seed{};
    for (std::size_t i = 0; i < 8; ++i)
        seed[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return seed;
}

template <class T>
T made(engine::Expected<T> value) {
    if (!value)
        throw std::runtime_error("a node cannot be set up: errno " + std::to_string(int(value.error())));
    return *value;
}

}  // namespace

Node::Node(const NodeSettings& settings)
    : engine(settings.engine, seed_of(settings.seed)),
      memory(settings.seed),
      address(settings.address),
      pd(made(engine.create_pd())),
      send_cq(made(engine.create_cq(settings.cq_capacity))),
      recv_cq(made(engine.create_cq(settings.cq_capacity))),
      settings_(settings) {
    memory.set_mode(settings.dma);
    engine_cq(send_cq, settings.cq_capacity);
    engine_cq(recv_cq, settings.cq_capacity);
}

void Node::engine_cq(engine::CqHandle cq, std::uint32_t capacity) {
    cqs_[key_of(cq)].capacity = capacity;
}

// --- memory ---

Buffer Node::buffer(std::size_t length, std::uint32_t access, std::optional<engine::PdHandle> in) {
    Buffer buffer;
    buffer.region = memory.add_region(length);
    buffer.va = next_va_;
    next_va_ += (length + 0x2000) & ~std::uint64_t{0xfff};
    buffer.bytes = memory.bytes(buffer.region);
    engine::MrSpec spec;
    spec.va = buffer.va;
    spec.length = length;
    spec.access = access;
    spec.region = buffer.region;
    buffer.mr = made(engine.register_mr(in.value_or(pd), spec));
    return buffer;
}

Buffer Node::filled(std::size_t length, unsigned salt) {
    Buffer result = buffer(length);
    const auto bytes = pattern(length, salt);
    std::copy(bytes.begin(), bytes.end(), result.bytes.begin());
    return result;
}

Buffer Node::phantom(std::uint64_t length) {
    Buffer buffer;
    buffer.region = memory.add_phantom(length);
    buffer.va = std::uint64_t{1} << 40;
    engine::MrSpec spec;
    spec.va = buffer.va;
    spec.length = length;
    spec.access = access_all;
    spec.region = buffer.region;
    buffer.mr = made(engine.register_mr(pd, spec));
    return buffer;
}

// --- queue pairs ---

unsigned Node::add_qp(const engine::QpInit& init) {
    const engine::QpInfo info = made(engine.create_qp(init));
    TestQp qp;
    qp.handle = info.handle;
    qp.qpn = info.qpn;
    qps_.push_back(std::move(qp));
    return static_cast<unsigned>(qps_.size() - 1);
}

engine::QpState Node::state(unsigned number) const {
    return made(engine.query_qp(qp(number))).state;
}

void Node::forget_posts(unsigned number) {
    qps_.at(number).sends.clear();
    qps_.at(number).receives.clear();
}

Node::TestQp* Node::find(engine::QpHandle handle) {
    const auto found =
        std::find_if(qps_.begin(), qps_.end(), [&](const TestQp& qp) { return qp.handle == handle; });
    return found == qps_.end() ? nullptr : &*found;
}

void Node::post(SendRequest request, unsigned number) {
    qps_.at(number).sends.push_back(std::move(request));
    dirty_.insert(number);
}

void Node::post(ReceiveRequest request, unsigned number) {
    qps_.at(number).receives.push_back(std::move(request));
    if (!settings_.lazy_receives) dirty_.insert(number);
}

engine::Error Node::post_now(engine::Time now, const SendRequest& request, unsigned number) {
    return engine.post_send(now, qp(number), request.wr());
}

engine::Error Node::post_now(const ReceiveRequest& request, unsigned number) {
    return engine.post_recv(qp(number), request.wr());
}

void Node::drain_sends(engine::Time now, TestQp& qp) {
    while (!qp.sends.empty() && engine.send_room(qp.handle) > 0) {
        const engine::Error error = engine.post_send(now, qp.handle, qp.sends.front().wr());
        if (error != engine::Error::none) violations_.push_back("post_send refused although there was room");
        qp.sends.pop_front();
    }
}

bool Node::drain_receives(TestQp& qp) {
    bool posted = false;
    while (!qp.receives.empty() && engine.receive_room(qp.handle) > 0) {
        const engine::Error error = engine.post_recv(qp.handle, qp.receives.front().wr());
        if (error != engine::Error::none) violations_.push_back("post_recv refused although there was room");
        qp.receives.pop_front();
        posted = true;
    }
    return posted;
}

// Only queues that were posted to or that the engine wants work for are looked at: an idle QP costs nothing.
bool Node::post_work(engine::Time now) {
    engine::WantedWork wanted;
    while (engine.poll_wanted(wanted)) {
        for (unsigned number = 0; number < qps_.size(); ++number) {
            const TestQp& qp = qps_[number];
            if (qp.handle != wanted.qp) continue;
            if ((wanted.send && !qp.sends.empty()) || (wanted.receive && !qp.receives.empty()))
                dirty_.insert(number);
        }
    }
    const bool any = !dirty_.empty();
    for (const unsigned number : std::exchange(dirty_, {})) {
        drain_sends(now, qps_[number]);
        if (!settings_.lazy_receives || state(number) == engine::QpState::error) drain_receives(qps_[number]);
    }
    return any;
}

// --- the turn ---

bool Node::turn(engine::Time now) {
    ++turn_;
    bool busy = receive_frames(now);
    busy |= run_dma(now);
    if (engine.next_deadline() <= now) {
        engine.handle_timeout(now);
        busy = true;
    }
    busy |= post_work(now);
    busy |= transmit(now);
    busy |= run_dma(now);
    busy |= collect(now);
    drop_unused_buffers();
    return busy;
}

bool Node::receive_frames(engine::Time now) {
    if (arrived_.empty()) return false;
    for (std::vector<std::byte>& bytes : arrived_) {
        const engine::RxToken token = next_token_++;
        const auto kept = rx_frames_.emplace(token, std::move(bytes)).first;
        handle_frame(now, kept->second, token);
    }
    arrived_.clear();
    return true;
}

void Node::handle_frame(engine::Time now, std::span<const std::byte> frame, engine::RxToken token) {
    const auto packet = protocol::parse_frame(frame);
    if (!packet) {
        drops_.push_back(packet.error());
        return;
    }
    const protocol::MacAddress mac = mac_of(address);
    const protocol::Verdict verdict = protocol::accept(*packet, {mac, settings_.engine.gid_table, {}, false});
    if (!verdict.accepted) {
        drops_.push_back(verdict.reason);
        return;
    }
    engine::PacketResult result = engine.handle_packet(now, *packet, token, engine::MissingReceive::ask);
    if (result.outcome == engine::PacketOutcome::needs_receive) {
        if (TestQp* qp = find(result.qp)) drain_receives(*qp);
        result = engine.handle_packet(now, *packet, token, engine::MissingReceive::rnr_nak);
        if (result.outcome == engine::PacketOutcome::needs_receive) {
            violations_.push_back("a packet that was handed in for an RNR NAK asks for a receive again");
        }
    }
    if (result.outcome == engine::PacketOutcome::dropped) drops_.push_back(result.reason);
}

bool Node::run_dma(engine::Time now) {
    bool any = false;
    for (;;) {
        engine::DmaOp op;
        while (engine.poll_dma(op)) {
            memory.ask(op, turn_);
            any = true;
        }
        const std::vector<engine::DmaAnswer> answers = memory.answer(turn_);
        if (answers.empty()) return any;
        engine.handle_dma(now, answers);
        any = true;
    }
}

bool Node::transmit(engine::Time now) {
    if (transmit_stopped_) return false;
    bool any = false;
    for (unsigned sent = 0; sent < settings_.transmit_budget; ++sent) {
        TxBuffer buffer;
        buffer.bytes.assign(settings_.engine.active_mtu.bytes() + 256, unwritten);
        const std::optional<engine::TxFrame> frame = engine.poll_transmit(now, buffer.bytes);
        if (!frame) break;
        any = true;
        buffer.frame = *frame;
        if (frame->length > buffer.bytes.size()) violations_.push_back("a frame longer than its buffer");
        if (!tx_frames_.emplace(frame->id, std::move(buffer)).second) {
            violations_.push_back("a frame slot given out twice");
        }
    }
    return any;
}

bool Node::collect(engine::Time now) {
    bool any = false;
    engine::FrameVerdict verdict;
    while (engine.poll_frame(now, verdict)) {
        any = true;
        const auto found = tx_frames_.find(verdict.id);
        if (found == tx_frames_.end()) {
            violations_.push_back("a verdict for a frame that is not under construction");
            continue;
        }
        TxBuffer& buffer = found->second;
        const std::span<std::byte> frame = std::span(buffer.bytes).first(buffer.frame.length);
        if (verdict.action == engine::FrameAction::send) {
            if (memory.pending_into(frame)) violations_.push_back("a frame sent before its bytes were there");
            protocol::seal_icrc(frame, buffer.frame.l3_offset);
            departing_.emplace_back(frame.begin(), frame.end());
        } else if (memory.pending_into(frame)) {
            retired_tx_.push_back(std::move(buffer.bytes));
        }
        tx_frames_.erase(found);
    }
    engine::WorkCompletion completion;
    while (engine.poll_completion(completion)) {
        any = true;
        TestCq& cq = cqs_[key_of(completion.cq)];
        if (cq.dead) continue;
        if (cq.entries.size() == cq.capacity) {
            cq.dead = true;
            engine.handle_cq_overflow(now, completion.cq);
        } else {
            cq.entries.push_back(completion);
        }
    }
    engine::AsyncEvent event;
    while (engine.poll_event(event)) {
        any = true;
        events_.push_back(event);
    }
    return any;
}

void Node::drop_unused_buffers() {
    std::erase_if(rx_frames_, [this](const auto& entry) { return !memory.pending_for(entry.first); });
    std::erase_if(retired_tx_, [this](const auto& bytes) { return !memory.pending_into(bytes); });
}

// --- what happened ---

std::vector<engine::WorkCompletion> Node::take(engine::CqHandle cq) {
    auto& entries = cqs_.at(key_of(cq)).entries;
    std::vector<engine::WorkCompletion> taken(entries.begin(), entries.end());
    entries.clear();
    return taken;
}

namespace {
std::string describe_all(const std::vector<engine::WorkCompletion>& completions) {
    std::string text;
    for (const auto& completion : completions)
        text += describe(completion) + "\n";
    return text;
}
}  // namespace

std::string Node::sent() {
    return describe_all(take_sent());
}
std::string Node::received() {
    return describe_all(take_received());
}

std::vector<engine::AsyncEvent> Node::take_events() {
    return std::exchange(events_, {});
}

std::string Node::events() {
    std::string text;
    for (const auto& event : take_events())
        text.append(name_of(event.type)).append("\n");
    return text;
}

std::uint64_t Node::drops(protocol::DropReason reason) const {
    return counters().drops.at(static_cast<std::size_t>(reason));
}

std::vector<std::string> Node::violations() const {
    std::vector<std::string> all = violations_;
    all.insert(all.end(), memory.violations().begin(), memory.violations().end());
    return all;
}

// --- addresses ---

Address address_of(std::uint8_t host) {
    return {{2, 0, 0, 0, 0, host}, {10, 0, 0, host}};
}

Address second_address_of(Address address) {
    address.ip[2] = 1;
    return address;
}

protocol::Gid gid_of(const Address& address) {
    return protocol::Gid::from_ipv4({address.ip});
}

protocol::MacAddress mac_of(const Address& address) {
    return {address.mac};
}

protocol::PathMtu path_mtu_of(std::uint32_t bytes) {
    return protocol::PathMtu::from_bytes(bytes).value();
}

}  // namespace rocem::test
