#include "tools/rocem-bench/wires.hpp"

#include <algorithm>
#include <deque>
#include <vector>

namespace rocem::tools {
namespace {

constexpr std::size_t plain_buffers = 256;
constexpr std::size_t plain_buffer_bytes = 8192;

class PortWire final : public BenchWire {
 public:
    PortWire(daemon::PacketPort& port, daemon::FramePool& pool) : port_(port), pool_(pool) {}

    std::size_t allocate(std::span<daemon::FrameBuffer> out) override {
        return pool_.allocate(out.first(std::min(out.size(), port_.transmit_room())));
    }
    void release(daemon::FrameBuffer frame) override { daemon::free_frame(frame); }
    void send(std::span<const daemon::FrameBuffer> frames) override {
        while (!frames.empty())
            frames = frames.subspan(port_.transmit({}, frames));
    }
    std::size_t receive(std::span<daemon::FrameBuffer> out) override { return port_.receive({}, out); }

 private:
    daemon::PacketPort& port_;
    daemon::FramePool& pool_;
};

struct PlainStore {
    std::vector<std::byte> bytes = std::vector<std::byte>(plain_buffers * plain_buffer_bytes);
    std::vector<daemon::FrameBuffer> free;
    std::deque<daemon::FrameBuffer> lanes[2];

    PlainStore() {
        for (std::size_t i = 0; i < plain_buffers; ++i) {
            free.push_back({nullptr, &bytes[i * plain_buffer_bytes], 0, plain_buffer_bytes});
        }
    }
};

class PlainWire final : public BenchWire {
 public:
    PlainWire(std::shared_ptr<PlainStore> store, unsigned side) : store_(std::move(store)), side_(side) {}

    std::size_t allocate(std::span<daemon::FrameBuffer> out) override {
        std::size_t count = 0;
        for (; count < out.size() && !store_->free.empty(); ++count) {
            out[count] = store_->free.back();
            store_->free.pop_back();
        }
        return count;
    }
    void release(daemon::FrameBuffer frame) override { store_->free.push_back(frame); }
    void send(std::span<const daemon::FrameBuffer> frames) override {
        auto& lane = store_->lanes[1 - side_];
        lane.insert(lane.end(), frames.begin(), frames.end());
    }
    std::size_t receive(std::span<daemon::FrameBuffer> out) override {
        auto& lane = store_->lanes[side_];
        const std::size_t count = std::min(out.size(), lane.size());
        std::copy_n(lane.begin(), count, out.begin());
        lane.erase(lane.begin(), lane.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }

 private:
    std::shared_ptr<PlainStore> store_;
    unsigned side_;
};

}  // namespace

std::unique_ptr<BenchWire> make_port_wire(daemon::PacketPort& port, daemon::FramePool& pool) {
    return std::make_unique<PortWire>(port, pool);
}

std::pair<std::unique_ptr<BenchWire>, std::unique_ptr<BenchWire>> make_plain_wire() {
    auto store = std::make_shared<PlainStore>();
    return {std::make_unique<PlainWire>(store, 0), std::make_unique<PlainWire>(store, 1)};
}

}  // namespace rocem::tools
