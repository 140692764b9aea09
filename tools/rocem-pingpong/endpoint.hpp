// One NIC with a queue pair and a buffer, through rocem.h only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "client/rocem.h"
#include "exchange.hpp"
#include "options.hpp"

namespace rocem::tools {

template <auto destroy>
struct Destroy {
    template <class Object>
    void operator()(Object* object) const {
        destroy(object);
    }
};

struct FreeMemory {
    rocem_context* context = nullptr;
    void operator()(std::byte* memory) const { rocem_free(context, memory); }
};

class Endpoint {
 public:
    // Opens the NIC and chooses a GID. Everything here throws Failure with rocem_last_error().
    explicit Endpoint(const Options& options);

    // A buffer of `bytes` that the peer may reach, and a QP with `depth` requests each way.
    void make_queues(std::uint64_t bytes, std::uint32_t depth, std::uint32_t psn);
    EndpointFacts facts() const;
    // To RTS. mtu: enum rocem_mtu, 0 the smaller of both ports' active one.
    void connect(const EndpointFacts& peer, const Plan& plan);

    std::span<std::byte> buffer() const { return {memory_.get(), buffer_bytes_}; }
    std::uint32_t lkey() const { return mr_->lkey; }

    void post_send(rocem_send_wr wr);
    void post_recv(std::uint64_t wr_id, std::span<std::byte> place);

    // The completions that are there; waits for one, at most until `exchange` (if not null) has ended.
    std::span<const rocem_wc> wait(const Exchange* exchange);

    // How a write of nothing to the peer ends now.
    std::string probe(const EndpointFacts& peer);

    std::uint64_t retransmitted_packets() const;
    const std::string& nic_name() const { return nic_name_; }
    std::uint32_t mtu_bytes() const { return mtu_bytes_; }

 private:
    void choose_gid(std::int32_t wanted);
    void move_to_init();
    void sleep_for_completion(const Exchange* exchange);
    int poll();

    bool events_;
    std::uint32_t min_rnr_timer_;
    std::string nic_name_;
    std::uint32_t max_rd_atomic_ = 0;
    rocem_gid gid_{};
    std::uint8_t gid_index_ = 0;
    rocem_port_attr port_{};
    std::uint32_t psn_ = 0;
    std::uint32_t mtu_bytes_ = 0;
    std::uint64_t buffer_bytes_ = 0;
    std::array<rocem_wc, 64> completions_{};

    // Destroyed from the last to the first.
    std::unique_ptr<rocem_context, Destroy<rocem_close>> context_;
    std::unique_ptr<rocem_pd, Destroy<rocem_dealloc_pd>> pd_;
    std::unique_ptr<std::byte, FreeMemory> memory_;
    std::unique_ptr<rocem_mr, Destroy<rocem_dereg_mr>> mr_;
    std::unique_ptr<rocem_comp_channel, Destroy<rocem_destroy_comp_channel>> channel_;
    std::unique_ptr<rocem_cq, Destroy<rocem_destroy_cq>> cq_;
    std::unique_ptr<rocem_qp, Destroy<rocem_destroy_qp>> qp_;
};

// "10.0.0.1" or "fd00::1"
std::string gid_text(const std::array<std::uint8_t, 16>& gid);

}  // namespace rocem::tools
