#include "tests/support/story_settings.hpp"

namespace rocem::test {

NodeSettings node_settings(const StoryOptions& options, Side side) {
    NodeSettings settings;
    settings.address = address_of(side == Side::a ? 1 : 2);
    settings.seed = options.seed * 2 + (side == Side::a ? 0 : 1);
    settings.dma = options.dma;
    settings.cq_capacity = options.cq_capacity;
    settings.lazy_receives = options.lazy_receives;
    // Tables of a modest size: thousands of stories each make two NICs.
    settings.engine.limits.max_qp = 256;
    settings.engine.limits.max_mr = 1024;
    settings.engine.limits.max_cq = 64;
    settings.engine.limits.max_pd = 64;
    settings.engine.mac = mac_of(settings.address);
    settings.engine.gid_table = {gid_of(settings.address), gid_of(second_address_of(settings.address))};
    settings.engine.active_mtu = path_mtu_of(options.mtu);
    settings.engine.window_packets = options.window_packets;
    settings.engine.ack_request_packets = options.ack_request_packets;
    settings.engine.tx_frames_max = options.tx_frames_max;
    settings.engine.dma_ops_max = options.dma_ops_max;
    settings.engine.queued_wqes_max = options.queued_wqes_max;
    settings.engine.mig_req = options.mig_req;
    return settings;
}

std::string telling(const StoryOptions& options) {
    return "DMA answered after " + std::to_string(options.dma.delay_polls) + " polls" +
           (options.dma.jitter ? " at most" : "") + ", MTU " + std::to_string(options.mtu) + ", first PSN " +
           std::to_string(options.first_psn) + ", seed " + std::to_string(options.seed);
}

engine::QpAttributes attributes_of(const StoryOptions& options, const Address& peer, protocol::Qpn peer_qpn) {
    engine::QpAttributes attributes;
    attributes.access_flags = options.access;
    attributes.av.dgid = gid_of(peer);
    attributes.av.dmac = mac_of(peer);
    attributes.path_mtu = path_mtu_of(options.mtu);
    attributes.timeout = options.timeout;
    attributes.retry_cnt = options.retry_cnt;
    attributes.rnr_retry = options.rnr_retry;
    attributes.min_rnr_timer = options.min_rnr_timer;
    attributes.max_rd_atomic = options.max_rd_atomic;
    attributes.max_dest_rd_atomic = options.max_dest_rd_atomic;
    attributes.dest_qpn = peer_qpn;
    return attributes;
}

std::uint32_t required_mask(engine::QpState target) {
    using namespace engine;
    switch (target) {
        case QpState::init:
            return attr_state | attr_pkey_index | attr_port | attr_access_flags;
        case QpState::rtr:
            return attr_state | attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn |
                   attr_max_dest_rd_atomic | attr_min_rnr_timer;
        case QpState::rts:
            return attr_state | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_sq_psn |
                   attr_max_rd_atomic;
        default:
            return attr_state;
    }
}

}  // namespace rocem::test
