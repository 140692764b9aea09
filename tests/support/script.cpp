#include "tests/support/script.hpp"

#include <algorithm>

#include "tests/support/story_settings.hpp"

namespace rocem::test {
namespace {

const Address peer_address = address_of(2);

}  // namespace

Script::Script(const ScriptOptions& options)
    : nic(node_settings(options, Side::a)),
      options_(options),
      told_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << telling(options)) {
    engine::QpInit init;
    init.pd = nic.pd;
    init.send_cq = nic.send_cq;
    init.recv_cq = nic.recv_cq;
    init.cap = options.cap;
    nic.add_qp(init);
    for (const auto state : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
        if (options.state == engine::QpState::reset) break;
        REQUIRE(modify(state, required_mask(state)) == engine::Error::none);
        if (state == options.state) break;
    }
}

Script::~Script() {
    CHECK(nic.violations() == std::vector<std::string>{});
}

engine::QpAttributes Script::attributes() const {
    engine::QpAttributes attributes = attributes_of(options_, peer_address, protocol::Qpn(peer_qpn));
    attributes.sq_psn = protocol::Psn(options_.first_psn);
    attributes.rq_psn = protocol::Psn(options_.first_psn_b);
    return attributes;
}

engine::Error Script::modify(engine::QpState state, std::uint32_t extra_mask) {
    engine::QpAttributes wanted = attributes();
    wanted.state = state;
    return nic.engine.modify_qp(now_, nic.qp(), wanted, engine::attr_state | extra_mask);
}

// --- the peer ---

RocePacket Script::request(Op opcode, std::int32_t psn, std::size_t payload) const {
    RocePacket packet;
    packet.opcode = opcode;
    packet.dest_qpn = number_of(nic.qpn());
    packet.psn = (options_.first_psn_b + static_cast<std::uint32_t>(psn)) & psn_mask;
    packet.payload = pattern(payload, static_cast<unsigned>(psn) + 7);
    packet.pad_count = static_cast<std::uint8_t>(-payload & 3u);
    const bool more_follows = opcode == Op::send_first || opcode == Op::send_middle ||
                              opcode == Op::write_first || opcode == Op::write_middle;
    packet.ack_request = !more_follows;
    return packet;
}

RocePacket Script::request(Op opcode, std::int32_t psn, std::size_t payload, const Buffer& target,
                           std::uint32_t dma_length, std::uint64_t offset) const {
    RocePacket packet = request(opcode, psn, payload);
    packet.va = target.va + offset;
    packet.r_key = number_of(target.mr.r_key);
    packet.dma_length = dma_length;
    return packet;
}

RocePacket Script::response(Op opcode, std::int32_t psn, std::size_t payload) const {
    RocePacket packet = request(opcode, 0, payload);
    packet.psn = (options_.first_psn + static_cast<std::uint32_t>(psn)) & psn_mask;
    packet.ack_request = false;
    packet.syndrome = syndrome_ack;
    return packet;
}

RocePacket Script::ack(std::int32_t psn, std::uint32_t msn, std::uint8_t syndrome) const {
    RocePacket packet = response(Op::acknowledge, psn);
    packet.msn = msn;
    packet.syndrome = syndrome;
    return packet;
}

std::vector<std::byte> Script::frame_of(const RocePacket& packet) const {
    return write_frame(packet, peer_address, nic.address);
}

void Script::hear(const RocePacket& packet) {
    hear_frame(frame_of(packet));
}

void Script::hear_frame(std::vector<std::byte> frame) {
    nic.deliver(std::move(frame));
    settle();
}

// --- the NIC ---

bool Script::turn() {
    const bool busy = nic.turn(now_);
    for (const auto& frame : nic.take_frames())
        said_.push_back(read_frame(frame));
    return busy || nic.dma_pending();
}

void Script::settle() {
    for (unsigned turns = 0; turn(); ++turns) {
        REQUIRE(turns < 1'000'000);
        now_ += turn_time;
    }
}

void Script::run_for(engine::Duration duration) {
    const engine::Time end = now_ + duration;
    settle();
    while (nic.engine.next_deadline() <= end) {
        now_ = std::max(now_ + 1ns, nic.engine.next_deadline());
        settle();
    }
    now_ = std::max(now_, end);
}

bool Script::run_to_deadline() {
    settle();
    const std::size_t said_before = said_.size();
    while (said_.size() == said_before) {
        if (nic.engine.next_deadline() == engine::never) return false;
        now_ = std::max(now_ + 1ns, nic.engine.next_deadline());
        settle();
    }
    return true;
}

void Script::post(SendRequest request) {
    nic.post(std::move(request));
    settle();
}

void Script::post(ReceiveRequest request) {
    nic.post(std::move(request));
    settle();
}

std::vector<RocePacket> Script::packets() {
    return std::exchange(said_, {});
}

std::string Script::says() {
    std::string text;
    for (const RocePacket& packet : packets()) {
        const std::uint32_t first = packet.is_response() ? options_.first_psn_b : options_.first_psn;
        text += describe(packet, psn_distance(packet.psn, first)) + "\n";
    }
    return text;
}

}  // namespace rocem::test
