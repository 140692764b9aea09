#include "daemon/nic/virtual_wire.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>

#include "daemon/nic/spsc_ring.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::daemon {
namespace {

constexpr std::size_t wire_frames = 512;

// Frames on their way in one direction, and the receiving worker's bell.
struct Lane {
    SpscRing<FrameBuffer> frames{wire_frames};
    std::atomic<bool> receiver_sleeps{false};
    ipc::UniqueFd bell{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

    ~Lane() {
        for (FrameBuffer frame; frames.pop(frame);)
            free_frame(frame);
    }
};

struct Wire {
    std::string description;
    Lane lanes[2];
};

class WireEnd final : public PacketPort {
 public:
    WireEnd(std::shared_ptr<Wire> wire, int side)
        : wire_(std::move(wire)), in_(wire_->lanes[side]), out_(wire_->lanes[1 - side]) {}

    std::size_t receive(engine::Time, std::span<FrameBuffer> out) override {
        std::size_t count = 0;
        while (count < out.size() && in_.frames.pop(out[count]))
            ++count;
        received_ += count;
        return count;
    }

    std::size_t transmit(engine::Time, std::span<const FrameBuffer> frames) override {
        std::size_t count = 0;
        while (count < frames.size() && out_.frames.push(frames[count]))
            ++count;
        transmitted_ += count;
        if (count < frames.size()) ++pushed_back_;
        if (count > 0 && out_.receiver_sleeps.load(std::memory_order_seq_cst)) ring_bell();
        return count;
    }

    std::size_t transmit_room() const override { return out_.frames.room(); }
    int wait_descriptor() const override { return in_.bell.get(); }

    bool begin_sleep() override {
        in_.receiver_sleeps.store(true, std::memory_order_seq_cst);
        if (in_.frames.empty()) return true;
        end_sleep();
        return false;
    }

    void end_sleep() override {
        in_.receiver_sleeps.store(false, std::memory_order_seq_cst);
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto taken =
            read(in_.bell.get(), &rings, sizeof rings);  // ours alone, never blocks
    }

    void append_counters(std::vector<PortCounter>& out) const override {
        out.push_back({"wire_rx_frames", received_});
        out.push_back({"wire_tx_frames", transmitted_});
        out.push_back({"wire_pushed_back", pushed_back_});
    }

    std::string_view description() const override { return wire_->description; }

 private:
    void ring_bell() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(out_.bell.get(), &one, sizeof one);
    }

    std::shared_ptr<Wire> wire_;
    Lane& in_;
    Lane& out_;
    std::uint64_t received_ = 0;
    std::uint64_t transmitted_ = 0;
    std::uint64_t pushed_back_ = 0;
};

}  // namespace

std::pair<std::unique_ptr<PacketPort>, std::unique_ptr<PacketPort>> make_virtual_wire(
    const std::string& name) {
    auto wire = std::make_shared<Wire>();
    wire->description = "virtual wire " + name;
    return {std::make_unique<WireEnd>(wire, 0), std::make_unique<WireEnd>(wire, 1)};
}

}  // namespace rocem::daemon
