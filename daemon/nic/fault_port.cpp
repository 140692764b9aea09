#include "daemon/nic/fault_port.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "protocol/packet.hpp"

namespace rocem::daemon {
namespace {

// A frame that waits to be overtaken leaves after this time though nothing came.
constexpr engine::Duration reorder_patience = std::chrono::milliseconds(1);
constexpr std::size_t frames_kept_max = 256;

// SplitMix64: the k-th number of frame n is a function of the seed, n and k.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

double unit(std::uint64_t random) {
    return static_cast<double>(random >> 11) * 0x1.0p-53;
}

bool is_roce_v2(const FrameBuffer& frame) {
    const auto packet = protocol::parse_frame(frame.bytes());
    return packet && packet->kind == protocol::FrameKind::roce_v2;
}

// Frames of one direction between the two sides of the port.
class Lane {
 public:
    Lane(unsigned direction, const config::DirectionFaults& faults, std::uint64_t seed, FramePool& pool)
        : direction_(direction), faults_(faults), seed_(seed), pool_(pool) {}
    ~Lane() {
        for (const Held& held : held_)
            free_frame(held.frame);
        for (const FrameBuffer& frame : ready_)
            free_frame(frame);
    }

    // Each frame may have a copy. A frame taken makes the room at most one smaller: what was promised holds.
    std::size_t room() const {
        const std::size_t kept = ready_.size() + held_.size();
        return kept < frames_kept_max ? (frames_kept_max - kept) / 2 : 0;
    }

    void accept(engine::Time now, FrameBuffer frame) {
        if (!is_roce_v2(frame)) {
            ready_.push_back(frame);
            return;
        }
        const FaultDecision decision = decide_fault(seed_, direction_, frames_++, faults_);
        if (decision.lost) {
            ++lost_;
            free_frame(frame);
        } else {
            if (decision.corrupted) frame = corrupt(frame, decision.corrupt_bit);
            if (decision.duplicated) duplicate(now, frame, decision);
            place(now, frame, decision);
        }
        release(now);
    }

    // Moves frames whose time has come to the way out, in the order of their times.
    void release(engine::Time now) {
        const auto due = [](const Held& held) {
            return held.reordered && held.overtaken_by == 0 ? engine::Time::min() : held.until;
        };
        while (!held_.empty()) {
            const auto first = std::min_element(
                held_.begin(), held_.end(), [&](const Held& a, const Held& b) { return due(a) < due(b); });
            if (due(*first) > now) return;
            const Held held = *first;
            held_.erase(first);
            leave(held.frame, held.number);
        }
    }

    std::deque<FrameBuffer>& ready() { return ready_; }

    engine::Time next_deadline(engine::Time when_ready) const {
        engine::Time first = ready_.empty() ? engine::never : when_ready;
        for (const Held& held : held_)
            first = std::min(first, held.until);
        return first;
    }

    void append_counters(std::vector<PortCounter>& out) const {
        const bool rx = direction_ == 0;
        out.push_back({rx ? "fault_rx_lost" : "fault_tx_lost", lost_});
        out.push_back({rx ? "fault_rx_duplicated" : "fault_tx_duplicated", duplicated_});
        out.push_back({rx ? "fault_rx_reordered" : "fault_tx_reordered", reordered_});
        out.push_back({rx ? "fault_rx_corrupted" : "fault_tx_corrupted", corrupted_});
        out.push_back({rx ? "fault_rx_delayed" : "fault_tx_delayed", delayed_});
        out.push_back({rx ? "fault_rx_no_buffer" : "fault_tx_no_buffer", no_buffer_});
    }

 private:
    struct Held {
        FrameBuffer frame;
        engine::Time until;
        std::uint64_t number = 0;  // its place among all frames of this direction
        std::uint32_t overtaken_by = 0;
        bool reordered = false;
    };

    void place(engine::Time now, FrameBuffer frame, const FaultDecision& decision) {
        const std::uint64_t number = frames_ - 1;
        if (decision.delay == engine::Duration{0} && decision.overtaken_by == 0) {
            leave(frame, number);
            return;
        }
        const bool reordered = decision.overtaken_by > 0;
        ++(reordered ? reordered_ : delayed_);
        // Those that shall overtake it are as late as it is.
        const engine::Duration wait = decision.delay + (reordered ? reorder_patience : engine::Duration{0});
        held_.push_back({frame, now + wait, number, decision.overtaken_by, reordered});
    }

    // The frame overtakes those before it that still wait.
    void leave(FrameBuffer frame, std::uint64_t number) {
        ready_.push_back(frame);
        for (Held& held : held_)
            held.overtaken_by -= held.number < number && held.overtaken_by > 0 ? 1 : 0;
    }

    void duplicate(engine::Time now, FrameBuffer frame, const FaultDecision& decision) {
        FrameBuffer copy;
        if (!copy_of(frame, copy)) return;
        ++duplicated_;
        FaultDecision in_place = decision;
        in_place.overtaken_by = 0;
        place(now, copy, in_place);
    }

    FrameBuffer corrupt(FrameBuffer frame, std::uint64_t bit) {
        if (frame_is_shared(frame)) {
            FrameBuffer copy;
            if (!copy_of(frame, copy)) return frame;
            free_frame(frame);
            frame = copy;
        }
        // Behind the Ethernet header: a frame for another MAC would be a loss, not a corruption.
        const std::uint64_t bits = (frame.length - protocol::Ethernet::size) * 8;
        const std::uint64_t at = protocol::Ethernet::size * 8 + bit % bits;
        frame.data[at / 8] ^= std::byte{1} << (at % 8);
        ++corrupted_;
        return frame;
    }

    bool copy_of(const FrameBuffer& frame, FrameBuffer& copy) {
        if (pool_.allocate({&copy, 1}) == 0) {
            ++no_buffer_;
            return false;
        }
        std::memcpy(copy.data, frame.data, frame.length);
        copy.length = frame.length;
        return true;
    }

    unsigned direction_;
    config::DirectionFaults faults_;
    std::uint64_t seed_;
    FramePool& pool_;
    std::uint64_t frames_ = 0;
    std::deque<Held> held_;
    std::deque<FrameBuffer> ready_;
    std::uint64_t lost_ = 0;
    std::uint64_t duplicated_ = 0;
    std::uint64_t reordered_ = 0;
    std::uint64_t corrupted_ = 0;
    std::uint64_t delayed_ = 0;
    std::uint64_t no_buffer_ = 0;
};

class FaultPort final : public PacketPort {
 public:
    FaultPort(std::unique_ptr<PacketPort> inner, const config::FaultSettings& faults, std::uint64_t seed,
              FramePool& pool)
        : inner_(std::move(inner)),
          receive_(0, faults.receive, seed, pool),
          transmit_(1, faults.transmit, seed, pool) {}

    std::size_t receive(engine::Time now, std::span<FrameBuffer> out) override {
        flush(now);
        receive_.release(now);
        std::size_t count = 0;
        auto& ready = receive_.ready();
        for (bool more = true; more;) {
            for (; count < out.size() && !ready.empty(); ++count) {
                out[count] = ready.front();
                ready.pop_front();
            }
            // Until the inner port is drained, or there is no room here or there.
            std::array<FrameBuffer, burst_frames_max> burst;
            const std::size_t wanted = std::min({out.size() - count, burst.size(), receive_.room()});
            const std::size_t arrived = wanted > 0 ? inner_->receive(now, std::span(burst).first(wanted)) : 0;
            for (std::size_t i = 0; i < arrived; ++i)
                receive_.accept(now, burst[i]);
            more = arrived > 0;
        }
        return count;
    }

    std::size_t transmit(engine::Time now, std::span<const FrameBuffer> frames) override {
        flush(now);
        std::size_t count = 0;
        for (; count < frames.size() && transmit_.room() > 0; ++count)
            transmit_.accept(now, frames[count]);
        flush(now);
        return count;
    }

    std::size_t transmit_room() const override { return transmit_.room(); }

    engine::Time next_deadline() const override {
        const engine::Time at_once{};
        return std::min(
            {inner_->next_deadline(), receive_.next_deadline(at_once), transmit_.next_deadline(at_once)});
    }

    int wait_descriptor() const override { return inner_->wait_descriptor(); }
    bool begin_sleep() override { return inner_->begin_sleep(); }
    void end_sleep() override { inner_->end_sleep(); }
    std::string_view description() const override { return inner_->description(); }

    void append_counters(std::vector<PortCounter>& out) const override {
        receive_.append_counters(out);
        transmit_.append_counters(out);
        inner_->append_counters(out);
    }

 private:
    void flush(engine::Time now) {
        transmit_.release(now);
        auto& ready = transmit_.ready();
        while (!ready.empty()) {
            std::array<FrameBuffer, burst_frames_max> burst;
            const std::size_t wanted = std::min(ready.size(), burst.size());
            std::copy_n(ready.begin(), wanted, burst.begin());
            const std::size_t taken = inner_->transmit(now, std::span(burst).first(wanted));
            ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(taken));
            if (taken < wanted) return;
        }
    }

    std::unique_ptr<PacketPort> inner_;
    Lane receive_;
    Lane transmit_;
};

}  // namespace

FaultDecision decide_fault(std::uint64_t seed, unsigned direction, std::uint64_t frame,
                           const config::DirectionFaults& faults) {
    std::uint64_t state = mix(seed ^ mix(direction + 1)) ^ mix(frame);
    const auto draw = [&state] { return state = mix(state); };
    const double loss = unit(draw());
    const double duplicate = unit(draw());
    const double reorder = unit(draw());
    const double corrupt = unit(draw());
    const double jitter = unit(draw());
    FaultDecision decision;
    decision.corrupt_bit = draw();
    decision.lost = loss < faults.loss;
    decision.duplicated = duplicate < faults.duplicate;
    decision.corrupted = corrupt < faults.corrupt;
    decision.overtaken_by = reorder < faults.reorder ? faults.reorder_frames : 0;
    const double delay_us = faults.delay_us + jitter * faults.jitter_us;
    decision.delay = engine::Duration(static_cast<std::int64_t>(delay_us * 1000.0));
    return decision;
}

std::unique_ptr<PacketPort> make_fault_port(std::unique_ptr<PacketPort> inner,
                                            const config::FaultSettings& faults, std::uint64_t seed,
                                            FramePool& pool) {
    return std::make_unique<FaultPort>(std::move(inner), faults, seed, pool);
}

}  // namespace rocem::daemon
