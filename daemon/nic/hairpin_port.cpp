#include "daemon/nic/hairpin_port.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/nic/spsc_ring.hpp"

namespace rocem::daemon {
namespace {

constexpr std::size_t loop_frames = 512;

class HairpinPort final : public PacketPort {
 public:
    HairpinPort(std::unique_ptr<PacketPort> inner, const protocol::MacAddress& mac)
        : inner_(std::move(inner)), mac_(mac) {}
    ~HairpinPort() override {
        for (FrameBuffer frame; loop_.pop(frame);)
            free_frame(frame);
    }

    std::size_t receive(engine::Time now, std::span<FrameBuffer> out) override {
        // Both sources get their share, whichever is busy.
        const std::size_t loop_share = inner_was_drained_ ? out.size() : (out.size() + 1) / 2;
        std::size_t count = 0;
        while (count < loop_share && loop_.pop(out[count]))
            ++count;
        const std::size_t outside = inner_->receive(now, out.subspan(count));
        inner_was_drained_ = outside < out.size() - count;
        count += outside;
        while (count < out.size() && loop_.pop(out[count]))
            ++count;
        return count;
    }

    std::size_t transmit(engine::Time now, std::span<const FrameBuffer> frames) override {
        std::size_t done = 0;
        while (done < frames.size()) {
            const bool own = is_own(frames[done]);
            std::size_t end = done + 1;
            while (end < frames.size() && is_own(frames[end]) == own)
                ++end;
            const std::span<const FrameBuffer> run = frames.subspan(done, end - done);
            const std::size_t taken = own ? loop(run) : inner_->transmit(now, run);
            done += taken;
            if (taken < run.size()) break;
        }
        return done;
    }

    std::size_t transmit_room() const override { return std::min(inner_->transmit_room(), loop_.room()); }
    engine::Time next_deadline() const override { return inner_->next_deadline(); }
    int wait_descriptor() const override { return inner_->wait_descriptor(); }
    bool begin_sleep() override { return loop_.empty() && inner_->begin_sleep(); }
    void end_sleep() override { inner_->end_sleep(); }
    std::string_view description() const override { return inner_->description(); }

    void append_counters(std::vector<PortCounter>& out) const override {
        out.push_back({"hairpin_frames", looped_});
        inner_->append_counters(out);
    }

 private:
    bool is_own(const FrameBuffer& frame) const {
        return frame.length >= mac_.bytes.size() &&
               std::memcmp(frame.data, mac_.bytes.data(), mac_.bytes.size()) == 0;
    }

    std::size_t loop(std::span<const FrameBuffer> frames) {
        std::size_t count = 0;
        while (count < frames.size() && loop_.push(frames[count]))
            ++count;
        looped_ += count;
        return count;
    }

    std::unique_ptr<PacketPort> inner_;
    protocol::MacAddress mac_;
    SpscRing<FrameBuffer> loop_{loop_frames};
    bool inner_was_drained_ = true;
    std::uint64_t looped_ = 0;
};

}  // namespace

std::unique_ptr<PacketPort> make_hairpin_port(std::unique_ptr<PacketPort> inner,
                                              const protocol::MacAddress& mac) {
    return std::make_unique<HairpinPort>(std::move(inner), mac);
}

}  // namespace rocem::daemon
