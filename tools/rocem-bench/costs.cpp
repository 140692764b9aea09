#include "costs.hpp"

#include <array>
#include <optional>

#include "instruction_counter.hpp"
#include "pair.hpp"
#include "protocol/icrc.hpp"
#include "sample_frame.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t payload_bytes = 1024;

// The compiler must believe that somebody looks at what was computed.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

// Functions of their own, so that callgrind can be told to count in them alone.
[[gnu::noinline]] void bench_decode(std::span<const std::byte> frame) {
    const auto packet = protocol::parse_frame(frame);
    keep(packet);
}

[[gnu::noinline]] void bench_encode(const protocol::FrameTemplate& frame_template,
                                    const protocol::RocePacket& roce, std::span<std::byte> out) {
    const std::size_t headers = protocol::transport_header_bytes(*roce.info);
    const std::size_t bth =
        protocol::write_headers(frame_template, out, headers + roce.payload.size() + protocol::icrc_bytes, 1);
    protocol::encode_transport(roce, out.subspan(bth));
    keep(out);
}

[[gnu::noinline]] void bench_icrc(std::span<const std::byte> l3) {
    const std::uint32_t icrc = protocol::icrc_of(l3);
    keep(icrc);
}

[[gnu::noinline]] void bench_round_trip(BenchPair& pair) {
    pair.step();
}

class CostMeter {
 public:
    explicit CostMeter(std::uint64_t packets) : packets_(packets) {
        auto counter = InstructionCounter::open();
        if (counter) {
            counter_ = std::move(*counter);
        } else {
            why_not_ = counter.error();
        }
    }

    const std::string& why_not() const { return why_not_; }

    // one_go does some packets and returns how many.
    template <class OneGo>
    CostFigure measure(std::string name, OneGo one_go) const {
        for (std::uint64_t done = 0; done < packets_ / 10;)
            done += one_go();
        const std::uint64_t instructions = counter_ ? counter_->read() : 0;
        const engine::Time start = bench_now();
        std::uint64_t done = 0;
        while (done < packets_)
            done += one_go();
        const auto per_packet = [&](double total) { return total / static_cast<double>(done); };
        CostFigure figure;
        figure.name = std::move(name);
        figure.nanoseconds = per_packet(static_cast<double>((bench_now() - start).count()));
        if (counter_) figure.instructions = per_packet(static_cast<double>(counter_->read() - instructions));
        return figure;
    }

 private:
    std::uint64_t packets_;
    std::optional<InstructionCounter> counter_;
    std::string why_not_;
};

}  // namespace

Costs measure_costs(std::uint64_t packets, daemon::FramePool& pool) {
    const CostMeter meter(packets);
    Costs costs;
    costs.why_no_instructions = meter.why_not();

    const std::vector<std::byte> frame = sample_frame(payload_bytes);
    costs.figures.push_back(meter.measure("decode", [&]() -> std::uint64_t {
        bench_decode(frame);
        return 1;
    }));

    const protocol::FrameTemplate frame_template = sample_template();
    const std::vector<std::byte> payload(payload_bytes);
    const protocol::RocePacket roce = sample_packet(payload);
    std::vector<std::byte> out(frame.size());
    costs.figures.push_back(meter.measure("encode", [&]() -> std::uint64_t {
        bench_encode(frame_template, roce, out);
        return 1;
    }));

    const auto l3 = std::span(frame).subspan(frame_template.l3_offset);
    costs.figures.push_back(meter.measure("ICRC, 1 KiB payload", [&]() -> std::uint64_t {
        bench_icrc(l3.first(l3.size() - protocol::icrc_bytes));
        return 1;
    }));

    // Every frame of a 64 B WRITE and its ACK, on both sides: built, sealed, parsed, checked, handled.
    BenchPair pair({"WRITE 64 B", engine::WrOpcode::rdma_write, 64, 1024}, pool);
    costs.figures.push_back(meter.measure("engine round trip", [&]() -> std::uint64_t {
        const std::uint64_t before = pair.frames();
        bench_round_trip(pair);
        return pair.frames() - before;
    }));
    return costs;
}

}  // namespace rocem::tools
