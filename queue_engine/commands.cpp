#include <algorithm>

#include "queue_engine/engine_impl.hpp"

namespace rocem::engine {
namespace {

// The QPN bits above are kept for a worker's number (decision 6).
constexpr std::uint32_t qpn_bound = 1u << 20;
constexpr std::uint32_t first_ordinary_qpn = 2;  // 0 and 1 are SMI and GSI

EngineSettings within_what_nodes_hold(EngineSettings settings) {
    settings.limits.max_sge = std::clamp(settings.limits.max_sge, 1u, sges_max);
    settings.dma_ops_max =
        std::clamp(settings.dma_ops_max, settings.limits.max_sge, DmaTable::operations_max_max);
    settings.limits.max_inline_data = std::min(settings.limits.max_inline_data, inline_bytes_max);
    return settings;
}

constexpr std::uint32_t queued_requests_max = 1u << 20;
constexpr std::uint32_t sge_blocks_max = 1u << 17;
constexpr std::uint32_t responses_max = 1u << 18;

}  // namespace

Engine::Impl::Impl(const EngineSettings& engine_settings, const Seed& seed)
    : settings(within_what_nodes_hold(engine_settings)),
      random(seed),
      memory(settings.limits),
      cqs(settings.limits.max_cq),
      qps(settings.limits.max_qp),
      qp_by_number(settings.limits.max_qp),
      send_wqes(queued_requests_max),
      recv_wqes(queued_requests_max),
      sge_blocks(sge_blocks_max),
      inline_blocks(sge_blocks_max),
      received_packets(std::max(settings.dma_ops_max * 2, 1024u)),
      responses(responses_max),
      dma(settings.dma_ops_max),
      frames(settings.tx_frames_max) {}

Expected<CqHandle> Engine::Impl::create_cq(std::uint32_t capacity) {
    if (capacity == 0 || capacity > settings.limits.max_cqe) return tl::unexpected(Error::invalid);
    if (cqs.full()) return tl::unexpected(Error::no_memory);
    const CqHandle handle = cqs.emplace();
    cqs.find(handle)->capacity = capacity;
    return handle;
}

Error Engine::Impl::destroy_cq(CqHandle handle) {
    const Cq* cq = cqs.find(handle);
    if (cq == nullptr) return Error::not_found;
    if (cq->users != 0) return Error::busy;
    cqs.erase(handle);
    return Error::none;
}

Expected<protocol::Qpn> Engine::Impl::choose_qpn(const QpInit& init) {
    if (init.requested_qpn) {
        const std::uint32_t wanted_qpn = init.requested_qpn->value();
        const bool reserved =
            wanted_qpn < first_ordinary_qpn || *init.requested_qpn == protocol::multicast_qpn;
        if (reserved || qp_by_number.find(wanted_qpn) != IdMap::none) return tl::unexpected(Error::invalid);
        return *init.requested_qpn;
    }
    // A number drawn at random from 2^20 is not one that was just given up.
    std::uint32_t number = 0;
    do {
        number = first_ordinary_qpn + random.below(qpn_bound - first_ordinary_qpn);
    } while (qp_by_number.find(number) != IdMap::none);
    return protocol::Qpn(number);
}

Expected<QpInfo> Engine::Impl::create_qp(const QpInit& init) {
    const DeviceLimits& limits = settings.limits;
    if (init.type != QpType::rc) return tl::unexpected(Error::not_supported);
    if (!memory.exists(init.pd)) return tl::unexpected(Error::not_found);
    Cq* send_cq = cqs.find(init.send_cq);
    Cq* recv_cq = cqs.find(init.recv_cq);
    if (send_cq == nullptr || recv_cq == nullptr) return tl::unexpected(Error::not_found);
    const QpCapabilities& cap = init.cap;
    if (cap.max_send_wr > limits.max_qp_wr || cap.max_recv_wr > limits.max_qp_wr ||
        cap.max_send_sge > limits.max_sge || cap.max_recv_sge > limits.max_sge ||
        cap.max_inline_data > limits.max_inline_data) {
        return tl::unexpected(Error::invalid);
    }
    if (qps.full()) return tl::unexpected(Error::no_memory);
    const Expected<protocol::Qpn> qpn = choose_qpn(init);
    if (!qpn) return tl::unexpected(qpn.error());

    const QpHandle handle = qps.emplace();
    Qp& qp = *qps.find(handle);
    qp.handle = handle;
    qp.qpn = *qpn;
    qp.init = init;
    qp_by_number.insert(qpn->value(), handle.index);
    timers.resize(qps.slots());
    memory.attach(init.pd);
    ++send_cq->users;
    ++recv_cq->users;
    return QpInfo{handle, *qpn};
}

Error Engine::Impl::destroy_qp(QpHandle handle) {
    Qp* qp = qps.find(handle);
    if (qp == nullptr || qp->destroyed) return Error::not_found;
    reset_qp(*qp);
    qp->attributes.state = QpState::reset;
    qp->destroyed = true;
    qp_by_number.erase(qp->qpn.value());
    --cqs.find(qp->init.send_cq)->users;
    --cqs.find(qp->init.recv_cq)->users;
    memory.detach(qp->init.pd);
    erase_if_quiet(*qp);
    return Error::none;
}

void Engine::Impl::erase_if_quiet(Qp& qp) {
    if (!qp.destroyed || qp.dma_pending != 0 || qp.frames_pending != 0 || qp.scheduled) return;
    timers.cancel(qp.handle.index);
    qps.erase(qp.handle);
}

}  // namespace rocem::engine
