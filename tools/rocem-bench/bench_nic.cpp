#include "bench_nic.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "protocol/icrc.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t queue_depth = 256;
constexpr std::uint32_t cq_capacity = 4096;

template <class T>
T must(engine::Expected<T> value) {
    if (!value) throw std::runtime_error("the engine refuses: errno " + std::to_string(int(value.error())));
    return *value;
}

void must(engine::Error error) {
    if (error != engine::Error::none)
        throw std::runtime_error("the engine refuses: errno " + std::to_string(int(error)));
}

protocol::MacAddress mac_of(std::uint8_t host) {
    return {{2, 0, 0, 0, 0, host}};
}

protocol::Gid gid_of(std::uint8_t host) {
    return protocol::Gid::from_ipv4({{10, 0, 0, host}});
}

engine::EngineSettings settings_of(std::uint8_t host, protocol::PathMtu mtu) {
    engine::EngineSettings settings;
    settings.limits.max_qp = settings.limits.max_cq = settings.limits.max_pd = settings.limits.max_mr = 16;
    settings.mac = mac_of(host);
    settings.gid_table = {gid_of(host)};
    settings.active_mtu = mtu;
    return settings;
}

}  // namespace

BenchNic::BenchNic(std::uint8_t host, protocol::PathMtu mtu, std::unique_ptr<daemon::PacketPort> port,
                   daemon::FramePool& pool)
    : gids_{gid_of(host)},
      mac_(mac_of(host)),
      engine_(settings_of(host, mtu), engine::Seed{host}),
      port_(std::move(port)),
      pool_(pool),
      dma_(regions_, {}),
      pd_(must(engine_.create_pd())),
      built_(engine_.settings().tx_frames_max) {
    engine::QpInit init;
    init.pd = pd_;
    init.send_cq = init.recv_cq = must(engine_.create_cq(cq_capacity));
    init.cap.max_send_wr = init.cap.max_recv_wr = queue_depth;
    qp_ = must(engine_.create_qp(init));
}

BenchNic::~BenchNic() {
    for (const BuiltFrame& frame : built_) {
        if (frame.buffer.handle != nullptr) free_frame(frame.buffer);
    }
    free_frames(outgoing_);
}

engine::MrInfo BenchNic::register_memory(std::span<std::byte> bytes) {
    daemon::DmaRegion region;
    region.road = &road_;
    region.base = bytes.data();
    region.length = bytes.size();
    engine::MrSpec spec;
    spec.va = reinterpret_cast<std::uintptr_t>(bytes.data());
    spec.length = bytes.size();
    spec.access = engine::access_local_write | engine::access_remote_write | engine::access_remote_read |
                  engine::access_remote_atomic;
    spec.region = regions_.add(region);
    return must(engine_.register_mr(pd_, spec));
}

void BenchNic::connect(const BenchNic& peer) {
    engine::QpAttributes attributes;
    attributes.state = engine::QpState::init;
    attributes.access_flags = engine::access_remote_write | engine::access_remote_read;
    must(engine_.modify_qp(
        bench_now(), qp_.handle, attributes,
        engine::attr_state | engine::attr_pkey_index | engine::attr_port | engine::attr_access_flags));
    attributes.state = engine::QpState::rtr;
    attributes.av.dgid = peer.gids_.front();
    attributes.av.dmac = peer.mac_;
    attributes.path_mtu = engine_.settings().active_mtu;
    attributes.dest_qpn = peer.qp_.qpn;
    attributes.max_dest_rd_atomic = attributes.max_rd_atomic = engine_.settings().limits.max_qp_rd_atom;
    attributes.min_rnr_timer = 12;
    must(engine_.modify_qp(bench_now(), qp_.handle, attributes,
                           engine::attr_state | engine::attr_av | engine::attr_path_mtu |
                               engine::attr_dest_qpn | engine::attr_rq_psn | engine::attr_max_dest_rd_atomic |
                               engine::attr_min_rnr_timer));
    attributes.state = engine::QpState::rts;
    attributes.timeout = 18;  // about a second: nothing is lost here
    attributes.retry_cnt = 7;
    attributes.rnr_retry = 7;
    must(engine_.modify_qp(bench_now(), qp_.handle, attributes,
                           engine::attr_state | engine::attr_timeout | engine::attr_retry_cnt |
                               engine::attr_rnr_retry | engine::attr_sq_psn | engine::attr_max_rd_atomic));
}

void BenchNic::turn(engine::Time now, std::vector<engine::WorkCompletion>& completions) {
    receive(now);
    if (engine_.next_deadline() <= now) engine_.handle_timeout(now);
    transmit(now);
    engine::WorkCompletion completion;
    while (engine_.poll_completion(completion))
        completions.push_back(completion);
    engine::WantedWork wanted;
    while (engine_.poll_wanted(wanted)) {
    }
}

void BenchNic::receive(engine::Time now) {
    received_.resize(daemon::burst_frames_max);
    received_.resize(port_->receive(now, received_));
    const protocol::ReceiveContext context{mac_, gids_, {}, false};
    for (std::size_t token = 0; token < received_.size(); ++token) {
        const auto packet = protocol::parse_frame(received_[token].bytes());
        if (!packet || !protocol::accept(*packet, context).accepted)
            throw std::runtime_error("a frame of the benchmark's own was refused");
        engine_.handle_packet(now, *packet, token, engine::MissingReceive::rnr_nak);
    }
    run_dma(now);  // at once: no frame is needed any more
    free_frames(received_);
}

void BenchNic::run_dma(engine::Time now) {
    for (;;) {
        engine::DmaOp op;
        while (engine_.poll_dma(op))
            dma_.submit(op);
        if (dma_.answers().empty()) return;
        engine_.handle_dma(now, dma_.answers());
        dma_.clear_answers();
    }
}

void BenchNic::transmit(engine::Time now) {
    flush(now);
    const std::size_t room = port_->transmit_room();
    std::array<daemon::FrameBuffer, daemon::burst_frames_max> buffers;
    const std::size_t wanted =
        std::min(buffers.size(), room > outgoing_.size() ? room - outgoing_.size() : 0);
    if (wanted == 0 || !engine_.transmit_pending()) return;
    const std::size_t count = pool_.allocate(std::span(buffers).first(wanted));
    std::size_t used = 0;
    for (; used < count; ++used) {
        const auto frame = engine_.poll_transmit(now, buffers[used].room());
        if (!frame) break;
        buffers[used].length = frame->length;
        built_[frame->id] = {buffers[used], frame->l3_offset};
    }
    free_frames(std::span(buffers).subspan(used, count - used));
    run_dma(now);
    finish_frames(now);
    flush(now);
}

void BenchNic::finish_frames(engine::Time now) {
    engine::FrameVerdict verdict;
    while (engine_.poll_frame(now, verdict)) {
        const BuiltFrame frame = std::exchange(built_[verdict.id], {});
        if (verdict.action == engine::FrameAction::discard) {
            free_frame(frame.buffer);
            continue;
        }
        protocol::seal_icrc(frame.buffer.room().first(frame.buffer.length), frame.l3_offset);
        outgoing_.push_back(frame.buffer);
    }
}

void BenchNic::flush(engine::Time now) {
    const std::size_t sent = port_->transmit(now, outgoing_);
    sent_frames_ += sent;
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(sent));
}

}  // namespace rocem::tools
