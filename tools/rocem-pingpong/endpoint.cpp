#include "endpoint.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "failure.hpp"

namespace rocem::tools {
namespace {

// With more programs than CPUs, one that only spins keeps the others from running.
constexpr std::uint32_t spins_before_yield = 200;
constexpr std::uint32_t spins_per_look_at_peer = 4096;

[[noreturn]] void fail() {
    throw Failure(rocem_last_error());
}

void check(int error) {
    if (error != 0) fail();
}

template <class Object>
Object* check(Object* object) {
    if (object == nullptr) fail();
    return object;
}

bool is_ipv4(const rocem_gid& gid) {
    constexpr std::array<std::uint8_t, 12> prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(prefix.begin(), prefix.end(), gid.raw);
}

bool is_link_local(const rocem_gid& gid) {
    return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

}  // namespace

std::string gid_text(const std::array<std::uint8_t, 16>& gid) {
    rocem_gid raw{};
    std::copy(gid.begin(), gid.end(), raw.raw);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_ipv4(raw)) {
        ::inet_ntop(AF_INET, raw.raw + 12, text.data(), text.size());
    } else {
        ::inet_ntop(AF_INET6, raw.raw, text.data(), text.size());
    }
    return text.data();
}

Endpoint::Endpoint(const Options& options) : events_(options.events), min_rnr_timer_(options.min_rnr_timer) {
    context_.reset(check(rocem_open(options.socket ? options.socket->c_str() : nullptr,
                                    options.nic ? options.nic->c_str() : nullptr)));
    rocem_device_attr device{};
    check(rocem_query_device(context_.get(), &device));
    check(rocem_query_port(context_.get(), 1, &port_));
    nic_name_ = device.name;
    max_rd_atomic_ = device.max_qp_rd_atom;
    if (port_.state != ROCEM_PORT_ACTIVE) throw Failure(nic_name_ + ": the port is down");
    choose_gid(options.gid_index);
}

void Endpoint::choose_gid(std::int32_t wanted) {
    if (wanted >= 0) {
        check(rocem_query_gid(context_.get(), 1, static_cast<std::uint32_t>(wanted), &gid_));
        gid_index_ = static_cast<std::uint8_t>(wanted);
        return;
    }
    int best = 0;  // 3: IPv4, 2: IPv6, 1: link-local
    for (std::uint32_t i = 0; i < port_.gid_tbl_len && i < 256; ++i) {
        rocem_gid gid{};
        if (rocem_query_gid(context_.get(), 1, i, &gid) != 0) continue;
        const int rank = is_ipv4(gid) ? 3 : is_link_local(gid) ? 1 : 2;
        if (rank <= best) continue;
        best = rank;
        gid_ = gid;
        gid_index_ = static_cast<std::uint8_t>(i);
    }
    if (best == 0) throw Failure(nic_name_ + ": the GID table is empty");
}

void Endpoint::make_queues(std::uint64_t bytes, std::uint32_t depth, std::uint32_t psn) {
    pd_.reset(check(rocem_alloc_pd(context_.get())));
    buffer_bytes_ = bytes;
    memory_ = std::unique_ptr<std::byte, FreeMemory>(
        static_cast<std::byte*>(check(rocem_alloc(context_.get(), bytes))), FreeMemory{context_.get()});
    mr_.reset(check(rocem_reg_mr(pd_.get(), memory_.get(), bytes,
                                 ROCEM_ACCESS_LOCAL_WRITE | ROCEM_ACCESS_REMOTE_WRITE |
                                     ROCEM_ACCESS_REMOTE_READ | ROCEM_ACCESS_REMOTE_ATOMIC)));
    if (events_) channel_.reset(check(rocem_create_comp_channel(context_.get())));
    // One more than the queues hold, for the probe.
    cq_.reset(check(rocem_create_cq(context_.get(), 2 * depth + 1, nullptr, channel_.get(), 0)));
    rocem_qp_init_attr init{};
    init.send_cq = cq_.get();
    init.recv_cq = cq_.get();
    init.qp_type = ROCEM_QPT_RC;
    init.cap.max_send_wr = depth + 1;
    init.cap.max_recv_wr = depth;
    init.cap.max_send_sge = 1;
    init.cap.max_recv_sge = 1;
    qp_.reset(check(rocem_create_qp(pd_.get(), &init)));
    psn_ = psn & 0xffffff;
    move_to_init();
}

void Endpoint::move_to_init() {
    rocem_qp_attr attr{};
    attr.qp_state = ROCEM_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = ROCEM_ACCESS_REMOTE_WRITE | ROCEM_ACCESS_REMOTE_READ | ROCEM_ACCESS_REMOTE_ATOMIC;
    check(rocem_modify_qp(qp_.get(), &attr,
                          ROCEM_QP_STATE | ROCEM_QP_PKEY_INDEX | ROCEM_QP_PORT | ROCEM_QP_ACCESS_FLAGS));
}

EndpointFacts Endpoint::facts() const {
    EndpointFacts facts;
    std::copy(std::begin(gid_.raw), std::end(gid_.raw), facts.gid.begin());
    facts.buffer = reinterpret_cast<std::uintptr_t>(memory_.get());
    facts.rkey = mr_->rkey;
    facts.qpn = qp_->qp_num;
    facts.psn = psn_;
    facts.active_mtu = port_.active_mtu;
    facts.max_rd_atomic = max_rd_atomic_;
    return facts;
}

void Endpoint::connect(const EndpointFacts& peer, const Plan& plan) {
    const std::uint32_t mtu =
        plan.mtu != 0 ? plan.mtu : std::min<std::uint32_t>(peer.active_mtu, port_.active_mtu);
    mtu_bytes_ = 128u << mtu;
    rocem_qp_attr attr{};
    attr.qp_state = ROCEM_QPS_RTR;
    attr.path_mtu = static_cast<rocem_mtu>(mtu);
    attr.dest_qp_num = peer.qpn;
    attr.rq_psn = peer.psn;
    attr.max_dest_rd_atomic = static_cast<std::uint8_t>(max_rd_atomic_);
    attr.min_rnr_timer = static_cast<std::uint8_t>(min_rnr_timer_);
    std::copy(peer.gid.begin(), peer.gid.end(), attr.ah_attr.grh.dgid.raw);
    attr.ah_attr.grh.sgid_index = gid_index_;
    attr.ah_attr.grh.hop_limit = 64;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    check(rocem_modify_qp(qp_.get(), &attr,
                          ROCEM_QP_STATE | ROCEM_QP_AV | ROCEM_QP_PATH_MTU | ROCEM_QP_DEST_QPN |
                              ROCEM_QP_RQ_PSN | ROCEM_QP_MAX_DEST_RD_ATOMIC | ROCEM_QP_MIN_RNR_TIMER));
    attr.qp_state = ROCEM_QPS_RTS;
    attr.sq_psn = psn_;
    attr.timeout = static_cast<std::uint8_t>(plan.timeout);
    attr.retry_cnt = static_cast<std::uint8_t>(plan.retry_cnt);
    attr.rnr_retry = static_cast<std::uint8_t>(plan.rnr_retry);
    attr.max_rd_atomic = static_cast<std::uint8_t>(std::min(max_rd_atomic_, peer.max_rd_atomic));
    check(rocem_modify_qp(qp_.get(), &attr,
                          ROCEM_QP_STATE | ROCEM_QP_SQ_PSN | ROCEM_QP_TIMEOUT | ROCEM_QP_RETRY_CNT |
                              ROCEM_QP_RNR_RETRY | ROCEM_QP_MAX_QP_RD_ATOMIC));
}

void Endpoint::post_send(rocem_send_wr wr) {
    wr.next = nullptr;
    wr.send_flags |= ROCEM_SEND_SIGNALED;
    check(rocem_post_send(qp_.get(), &wr, nullptr));
}

void Endpoint::post_recv(std::uint64_t wr_id, std::span<std::byte> place) {
    rocem_sge sge{};
    sge.addr = reinterpret_cast<std::uintptr_t>(place.data());
    sge.length = static_cast<std::uint32_t>(place.size());
    sge.lkey = mr_->lkey;
    rocem_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = place.empty() ? 0 : 1;
    check(rocem_post_recv(qp_.get(), &wr, nullptr));
}

int Endpoint::poll() {
    const int count = rocem_poll_cq(cq_.get(), static_cast<int>(completions_.size()), completions_.data());
    if (count < 0) fail();
    return count;
}

std::span<const rocem_wc> Endpoint::wait(const Exchange* exchange) {
    for (std::uint32_t spins = 1;; ++spins) {
        int count = poll();
        if (count == 0 && events_) {
            check(rocem_req_notify_cq(cq_.get(), 0));
            count = poll();
            if (count == 0) sleep_for_completion(exchange);
        }
        if (count > 0) return std::span(completions_).first(static_cast<std::size_t>(count));
        if (spins > spins_before_yield) ::sched_yield();
        if (exchange != nullptr && spins % spins_per_look_at_peer == 0 && exchange->peer_gone())
            throw PeerGone();
    }
}

void Endpoint::sleep_for_completion(const Exchange* exchange) {
    std::array<pollfd, 2> watched = {
        {{channel_->fd, POLLIN, 0}, {exchange == nullptr ? -1 : exchange->descriptor(), POLLRDHUP, 0}}};
    while (::poll(watched.data(), watched.size(), -1) < 0) {
        if (errno != EINTR) throw Failure(std::string("poll: ") + std::strerror(errno));
    }
    if (watched[0].revents == 0) throw PeerGone();
    rocem_cq* cq = nullptr;
    void* cq_context = nullptr;
    const int error = rocem_get_cq_event(channel_.get(), &cq, &cq_context);
    if (error == EINTR) return;
    check(error);
    rocem_ack_cq_events(cq, 1);
}

std::string Endpoint::probe(const EndpointFacts& peer) {
    constexpr std::uint64_t probe_id = ~std::uint64_t{0};
    rocem_send_wr wr{};
    wr.wr_id = probe_id;
    wr.opcode = ROCEM_WR_RDMA_WRITE;
    wr.remote_addr = peer.buffer;
    wr.rkey = peer.rkey;
    post_send(wr);
    for (;;) {
        for (const rocem_wc& wc : wait(nullptr)) {
            if (wc.wr_id == probe_id || wc.status != ROCEM_WC_SUCCESS) return rocem_wc_status_str(wc.status);
        }
    }
}

std::uint64_t Endpoint::retransmitted_packets() const {
    const char* label = nullptr;
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; rocem_query_counter(context_.get(), i, &label, &value) == 0; ++i) {
        if (std::string_view(label) == "retransmitted_packets") return value;
    }
    return 0;
}

}  // namespace rocem::tools
