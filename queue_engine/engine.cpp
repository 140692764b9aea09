#include "queue_engine/engine.hpp"

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {

using protocol::DropReason;

Engine::Engine(const EngineSettings& settings, const Seed& seed)
    : impl_(std::make_unique<Impl>(settings, seed)) {}
Engine::~Engine() = default;

// The checks that need a queue pair: rocev2 5.7, steps 3 to 7. Nothing changes before all of them hold.
PacketResult Engine::Impl::handle_packet(Time now, const protocol::Packet& packet, RxToken token,
                                         MissingReceive missing) {
    const protocol::RocePacket& roce = packet.roce;
    const std::uint32_t slot = qp_by_number.find(roce.bth.dest_qp.value());
    if (slot == IdMap::none) return drop(DropReason::unknown_qp);
    Qp& qp = *qps.at(slot);
    if (roce.info->service != protocol::Service::rc) return drop(DropReason::wrong_service);
    const QpState state = qp.state();
    if (state == QpState::reset || state == QpState::init || state == QpState::error)
        return drop(DropReason::qp_state);
    if (protocol::source_gid(packet) != qp.attributes.av.dgid)
        return drop(DropReason::source_address_mismatch);
    if (protocol::destination_gid(packet) != qp.local_gid)
        return drop(DropReason::destination_address_mismatch);
    if (!settings.pkey_table[qp.attributes.pkey_index].matches(roce.bth.p_key))
        return drop(DropReason::p_key_mismatch);
    const PacketResult result = roce.info->is_request ? handle_request(qp, roce, token, missing)
                                                      : handle_response(now, qp, roce, token);
    if (result.outcome != PacketOutcome::needs_receive) {
        ++counters.rdma_rx_packets;
        counters.rdma_rx_bytes += packet.frame.size() - packet.trailer.size();
    }
    return result;
}

const EngineSettings& Engine::settings() const {
    return impl_->settings;
}
const Counters& Engine::counters() const {
    return impl_->counters;
}
Time Engine::next_deadline() const {
    return impl_->timers.next_deadline();
}
bool Engine::transmit_pending() const {
    return impl_->scheduled_head != no_node;
}

Expected<QpAttributes> Engine::query_qp(QpHandle handle) const {
    const Qp* qp = impl_->qps.find(handle);
    if (qp == nullptr || qp->destroyed) return tl::unexpected(Error::not_found);
    QpAttributes attributes = qp->attributes;
    attributes.cur_state = attributes.state;
    attributes.sq_draining = qp->drain_pending;
    // The PSNs as they stand now: what is expected, and what the next request starts with.
    attributes.rq_psn = qp->responder.expected_psn;
    attributes.sq_psn = qp->requester.next_psn;
    return attributes;
}

Expected<QpInit> Engine::query_qp_init(QpHandle handle) const {
    const Qp* qp = impl_->qps.find(handle);
    if (qp == nullptr || qp->destroyed) return tl::unexpected(Error::not_found);
    return qp->init;
}

std::optional<QpInfo> Engine::find_qp(protocol::Qpn qpn) const {
    const std::uint32_t slot = impl_->qp_by_number.find(qpn.value());
    if (slot == IdMap::none) return std::nullopt;
    return QpInfo{impl_->qps.at(slot)->handle, qpn};
}

std::uint32_t Engine::send_room(QpHandle handle) const {
    const Qp* qp = impl_->qps.find(handle);
    if (qp == nullptr || qp->destroyed) return 0;
    return impl_->send_capacity(*qp) - qp->send_queue.count;
}

std::uint32_t Engine::receive_room(QpHandle handle) const {
    const Qp* qp = impl_->qps.find(handle);
    if (qp == nullptr || qp->destroyed) return 0;
    return impl_->receive_capacity(*qp) - qp->receive_queue.count;
}

bool Engine::exists(QpHandle qp) const {
    return impl_->qps.find(qp) != nullptr;
}
bool Engine::exists(MrHandle mr) const {
    return impl_->memory.exists(mr);
}
std::uint32_t Engine::qp_count() const {
    return impl_->qps.size();
}
std::uint32_t Engine::mr_count() const {
    return impl_->memory.mr_count();
}
std::uint32_t Engine::cq_count() const {
    return impl_->cqs.size();
}
std::uint32_t Engine::pd_count() const {
    return impl_->memory.pd_count();
}

Expected<PdHandle> Engine::create_pd() {
    return impl_->memory.create_pd();
}
Error Engine::destroy_pd(PdHandle pd) {
    return impl_->memory.destroy_pd(pd);
}
Expected<MrInfo> Engine::register_mr(PdHandle pd, const MrSpec& spec) {
    return impl_->memory.register_mr(pd, spec, impl_->random);
}
Error Engine::deregister_mr(MrHandle mr) {
    return impl_->memory.deregister_mr(mr);
}
Expected<CqHandle> Engine::create_cq(std::uint32_t capacity) {
    return impl_->create_cq(capacity);
}
Error Engine::destroy_cq(CqHandle cq) {
    return impl_->destroy_cq(cq);
}
Expected<QpInfo> Engine::create_qp(const QpInit& init) {
    return impl_->create_qp(init);
}
Error Engine::modify_qp(Time now, QpHandle qp, const QpAttributes& attributes, std::uint32_t mask) {
    return impl_->modify_qp(now, qp, attributes, mask);
}
Error Engine::destroy_qp(QpHandle qp) {
    return impl_->destroy_qp(qp);
}
protocol::Psn Engine::random_psn() {
    return protocol::Psn(impl_->random.next());
}

void Engine::update_destination_mac(const protocol::Gid& dgid, const protocol::MacAddress& dmac) {
    for (std::uint32_t i = 0; i < impl_->qps.slots(); ++i) {
        Qp* qp = impl_->qps.at(i);
        if (qp == nullptr || qp->attributes.av.dgid != dgid) continue;
        qp->attributes.av.dmac = dmac;
        protocol::set_destination_mac(qp->path, dmac);
    }
}

Error Engine::post_send(Time now, QpHandle qp, const SendWr& wr) {
    return impl_->post_send(now, qp, wr);
}
Error Engine::post_recv(QpHandle qp, const RecvWr& wr) {
    return impl_->post_recv(qp, wr);
}

PacketResult Engine::handle_packet(Time now, const protocol::Packet& packet, RxToken token,
                                   MissingReceive missing) {
    return impl_->handle_packet(now, packet, token, missing);
}
void Engine::handle_dma(Time now, std::span<const DmaAnswer> answers) {
    impl_->handle_dma(now, answers);
}
void Engine::handle_timeout(Time now) {
    impl_->handle_timeout(now);
}
void Engine::handle_cq_overflow(Time, CqHandle cq) {
    impl_->handle_cq_overflow(cq);
}

std::optional<TxFrame> Engine::poll_transmit(Time now, std::span<std::byte> buffer) {
    return impl_->poll_transmit(now, buffer);
}
bool Engine::poll_frame(Time now, FrameVerdict& verdict) {
    return impl_->poll_frame(now, verdict);
}
bool Engine::poll_dma(DmaOp& op) {
    return impl_->dma.poll(op);
}
bool Engine::poll_completion(WorkCompletion& completion) {
    return impl_->poll_completion(completion);
}

bool Engine::poll_event(AsyncEvent& event) {
    if (impl_->events.empty()) return false;
    event = impl_->events.front();
    impl_->events.pop();
    return true;
}

bool Engine::poll_wanted(WantedWork& wanted) {
    while (!impl_->wanted.empty()) {
        const QpHandle handle = impl_->wanted.front();
        impl_->wanted.pop();
        Qp* qp = impl_->qps.find(handle);
        if (qp == nullptr || qp->destroyed) continue;
        wanted = {handle, qp->send_wanted, qp->receive_wanted};
        qp->wanted_queued = qp->send_wanted = qp->receive_wanted = false;
        return true;
    }
    return false;
}

}  // namespace rocem::engine
