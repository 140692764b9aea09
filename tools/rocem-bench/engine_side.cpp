#include "tools/rocem-bench/engine_side.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

#include "protocol/icrc.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t memory_bytes = 1u << 20;
constexpr std::uint64_t memory_va = 0x10000;
constexpr std::size_t burst = 32;
constexpr std::uint32_t access_all = engine::access_local_write | engine::access_remote_write |
                                     engine::access_remote_read | engine::access_remote_atomic;

protocol::Gid gid_of(unsigned number) {
    return protocol::Gid::from_ipv4({{10, 0, 0, static_cast<std::uint8_t>(number + 1)}});
}

engine::EngineSettings settings_of(unsigned number, std::uint32_t mtu_bytes) {
    engine::EngineSettings settings;
    settings.mac = {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number + 1)}};
    settings.gid_table = {gid_of(number)};
    settings.active_mtu = *protocol::PathMtu::from_bytes(mtu_bytes);
    settings.limits.max_qp = 16;
    settings.limits.max_mr = 16;
    return settings;
}

void check(engine::Error error) {
    if (error != engine::Error::none) throw std::logic_error("the engine refused the bench's own set-up");
}

}  // namespace

EngineSide::EngineSide(unsigned number, std::uint32_t mtu_bytes, BenchWire& wire)
    : settings_(settings_of(number, mtu_bytes)),
      engine_(std::make_unique<engine::Engine>(settings_, engine::Seed{static_cast<std::uint8_t>(number)})),
      wire_(wire),
      memory_(memory_bytes),
      under_construction_(settings_.tx_frames_max),
      l3_offsets_(settings_.tx_frames_max) {
    pd_ = *engine_->create_pd();
    mr_ = *engine_->register_mr(pd_, {memory_va, memory_bytes, access_all, 0, {}});
    engine::QpInit init;
    init.pd = pd_;
    init.send_cq = init.recv_cq = *engine_->create_cq(4096);
    init.cap.max_send_wr = init.cap.max_recv_wr = 256;
    init.sq_sig_all = true;
    qp_ = *engine_->create_qp(init);
    context_.mac = settings_.mac;
    context_.gids = settings_.gid_table;
    answers_.reserve(4096);
}

void EngineSide::connect(const EngineSide& peer) {
    engine::QpAttributes attributes;
    attributes.state = engine::QpState::init;
    attributes.access_flags = access_all;
    check(engine_->modify_qp(
        {}, qp_.handle, attributes,
        engine::attr_state | engine::attr_pkey_index | engine::attr_port | engine::attr_access_flags));
    attributes.state = engine::QpState::rtr;
    attributes.av.dgid = peer.settings_.gid_table[0];
    attributes.av.dmac = peer.settings_.mac;
    attributes.path_mtu = settings_.active_mtu;
    attributes.dest_qpn = peer.qp_.qpn;
    attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 16;
    attributes.min_rnr_timer = 12;
    check(engine_->modify_qp({}, qp_.handle, attributes,
                             engine::attr_state | engine::attr_av | engine::attr_path_mtu |
                                 engine::attr_dest_qpn | engine::attr_rq_psn |
                                 engine::attr_max_dest_rd_atomic | engine::attr_min_rnr_timer));
    attributes.state = engine::QpState::rts;
    attributes.timeout = 14;
    attributes.retry_cnt = attributes.rnr_retry = 7;
    check(engine_->modify_qp({}, qp_.handle, attributes,
                             engine::attr_state | engine::attr_timeout | engine::attr_retry_cnt |
                                 engine::attr_rnr_retry | engine::attr_sq_psn | engine::attr_max_rd_atomic));
}

void EngineSide::post(const Workload& workload, const EngineSide& peer) {
    const engine::Sge sge{memory_va, workload.message_bytes, mr_.l_key};
    engine::SendWr wr;
    wr.opcode = workload.opcode;
    wr.remote_addr = memory_va;
    wr.r_key = peer.mr_.r_key;
    wr.sges = {&sge, 1};
    check(engine_->post_send({}, qp_.handle, wr));
}

void EngineSide::post_receive() {
    const engine::Sge sge{memory_va, memory_bytes, mr_.l_key};
    engine::RecvWr wr;
    wr.sges = {&sge, 1};
    check(engine_->post_recv(qp_.handle, wr));
}

void EngineSide::turn(engine::Time now) {
    receive(now);
    if (engine_->next_deadline() <= now) engine_->handle_timeout(now);
    transmit(now);
    complete();
}

void EngineSide::receive(engine::Time now) {
    std::array<daemon::FrameBuffer, burst> frames;
    const std::size_t count = wire_.receive(frames);
    for (std::size_t i = 0; i < count; ++i) {
        const auto packet = protocol::parse_frame(frames[i].bytes());
        if (!packet || !protocol::accept(*packet, context_).accepted) {
            failed_ = true;
            continue;
        }
        engine_->handle_packet(now, *packet, 0, engine::MissingReceive::rnr_nak);
    }
    run_dma(now);
    for (std::size_t i = 0; i < count; ++i)
        wire_.release(frames[i]);
}

void EngineSide::transmit(engine::Time now) {
    spare_.resize(burst);
    spare_.resize(wire_.allocate(spare_));
    while (!spare_.empty()) {
        const auto frame = engine_->poll_transmit(now, spare_.back().room());
        if (!frame) break;
        daemon::FrameBuffer buffer = spare_.back();
        spare_.pop_back();
        buffer.length = frame->length;
        under_construction_[frame->id] = buffer;
        l3_offsets_[frame->id] = frame->l3_offset;
    }
    for (const daemon::FrameBuffer& unused : spare_)
        wire_.release(unused);
    run_dma(now);
    std::array<daemon::FrameBuffer, burst> ready;
    std::size_t count = 0;
    engine::FrameVerdict verdict;
    while (engine_->poll_frame(now, verdict)) {
        const daemon::FrameBuffer buffer = under_construction_[verdict.id];
        if (verdict.action == engine::FrameAction::discard) {
            wire_.release(buffer);
            continue;
        }
        protocol::seal_icrc(buffer.room().first(buffer.length), l3_offsets_[verdict.id]);
        ready[count++] = buffer;
    }
    wire_.send(std::span(ready).first(count));
}

void EngineSide::run_dma(engine::Time now) {
    answers_.clear();
    engine::DmaOp op;
    while (engine_->poll_dma(op)) {
        std::byte* at = &memory_[op.region_offset];
        if (op.kind == engine::DmaKind::read) std::memcpy(op.to_frame, at, op.length);
        if (op.kind == engine::DmaKind::write) std::memcpy(at, op.from_frame, op.length);
        answers_.push_back({op.id, true, 0});
    }
    engine_->handle_dma(now, answers_);
}

void EngineSide::complete() {
    engine::WorkCompletion completion;
    while (engine_->poll_completion(completion)) {
        if (completion.status != engine::WcStatus::success) failed_ = true;
        if (completion.opcode < engine::WcOpcode::receive) ++sends_completed_;
    }
}

}  // namespace rocem::tools
