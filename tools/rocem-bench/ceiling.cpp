#include "ceiling.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_nic.hpp"
#include "daemon/nic/dpdk_port.hpp"
#include "pair.hpp"
#include "protocol/icrc.hpp"
#include "sample_frame.hpp"

namespace rocem::tools {
namespace {

class Ceiling {
 public:
    Ceiling(std::uint32_t payload_bytes, daemon::FramePool& pool)
        : payload_bytes_(payload_bytes),
          pool_(pool),
          frame_(sample_frame(payload_bytes)),
          from_(bench_memory_bytes, std::byte{0x11}),
          to_(bench_memory_bytes, std::byte{0x22}) {
        auto ports = daemon::make_ring_port_pair("bench" + std::to_string(payload_bytes), pool);
        if (!ports) throw std::runtime_error(ports.error());
        ports_ = std::move(*ports);
    }

    void step() {
        send();
        receive();
    }
    std::uint64_t frames() const { return received_; }

 private:
    std::size_t slot(std::uint64_t frame) const {
        return frame % (bench_memory_bytes / payload_bytes_) * payload_bytes_;
    }

    void send() {
        std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
        const std::size_t count = pool_.allocate(burst);
        for (std::size_t i = 0; i < count; ++i) {
            std::byte* const data = burst[i].data;
            std::memcpy(data, frame_.data(), offset_);
            std::memcpy(data + offset_, from_.data() + slot(sent_ + i), payload_bytes_);
            burst[i].length = static_cast<std::uint32_t>(frame_.size());
            protocol::seal_icrc(burst[i].room().first(frame_.size()), l3_offset);
        }
        const std::size_t taken = ports_.first->transmit(bench_now(), std::span(burst).first(count));
        sent_ += taken;
        free_frames(std::span(burst).subspan(taken, count - taken));
    }

    void receive() {
        std::array<daemon::FrameBuffer, daemon::burst_frames_max> burst;
        const std::size_t count = ports_.second->receive(bench_now(), burst);
        for (std::size_t i = 0; i < count; ++i) {
            if (!protocol::icrc_is_right(burst[i].bytes().subspan(l3_offset)))
                throw std::runtime_error("net_ring changed a frame");
            std::memcpy(to_.data() + slot(received_ + i), burst[i].data + offset_, payload_bytes_);
        }
        received_ += count;
        free_frames(std::span(burst).first(count));
    }

    static constexpr std::size_t l3_offset = 14;

    std::uint32_t payload_bytes_;
    daemon::FramePool& pool_;
    std::vector<std::byte> frame_;
    std::vector<std::byte> from_;
    std::vector<std::byte> to_;
    std::size_t offset_ = sample_payload_offset();
    std::pair<std::unique_ptr<daemon::PacketPort>, std::unique_ptr<daemon::PacketPort>> ports_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
};

}  // namespace

CeilingFigure measure_ceiling(std::uint32_t payload_bytes, double seconds, daemon::FramePool& pool) {
    Ceiling ceiling(payload_bytes, pool);
    const engine::Time start = bench_now();
    const engine::Time end =
        start + std::chrono::duration_cast<engine::Duration>(std::chrono::duration<double>(seconds));
    while (bench_now() < end)
        ceiling.step();
    CeilingFigure figure;
    figure.payload_bytes = payload_bytes;
    figure.rate.seconds = std::chrono::duration<double>(bench_now() - start).count();
    figure.rate.frames = figure.rate.messages = ceiling.frames();
    figure.rate.bytes = figure.rate.frames * payload_bytes;
    return figure;
}

}  // namespace rocem::tools
