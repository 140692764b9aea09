#include "tools/rocem-bench/instructions.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ipc/unique_fd.hpp"
#include "protocol/encode.hpp"
#include "tools/rocem-bench/measure.hpp"

namespace rocem::tools {
namespace {

constexpr std::array<const char*, 4> steps = {"decode", "encode", "icrc", "engine"};
constexpr std::size_t payload_bytes = 1024;

struct Sample {
    std::array<std::byte, 2048> frame{};
    std::size_t length = 0;
    std::array<std::byte, payload_bytes> payload{};
    protocol::FrameTemplate headers;
    protocol::RocePacket roce;

    Sample() {
        protocol::PathHeaders path;
        path.source_gid = *protocol::Gid::from_string("10.0.0.1");
        path.destination_gid = *protocol::Gid::from_string("10.0.0.2");
        headers = protocol::build_template(path);
        roce.info = &protocol::opcode_info(protocol::Opcode::rc_rdma_write_only);
        roce.bth.opcode = static_cast<std::uint8_t>(roce.info->opcode);
        roce.bth.dest_qp = protocol::Qpn(0x11);
        roce.reth.dma_length = payload_bytes;
        roce.payload = payload;
        length = protocol::encode_frame(headers, roce, 1, frame);
    }
};

std::uint64_t decode_packets(std::uint64_t packets) {
    const Sample sample;
    std::uint64_t understood = 0;
    for (std::uint64_t i = 0; i < packets; ++i) {
        understood += protocol::parse_frame(std::span(sample.frame).first(sample.length)).has_value() ? 1 : 0;
    }
    return understood;
}

std::uint64_t encode_packets(std::uint64_t packets) {
    Sample sample;
    const std::size_t transport = protocol::transport_header_bytes(*sample.roce.info) + payload_bytes + 4;
    for (std::uint64_t i = 0; i < packets; ++i) {
        const std::size_t at =
            protocol::write_headers(sample.headers, sample.frame, transport, static_cast<std::uint16_t>(i));
        sample.roce.bth.psn = sample.roce.bth.psn.next();
        protocol::encode_transport(sample.roce, std::span(sample.frame).subspan(at));
    }
    return packets;
}

std::uint64_t seal_packets(std::uint64_t packets) {
    Sample sample;
    for (std::uint64_t i = 0; i < packets; ++i) {
        protocol::seal_icrc(std::span(sample.frame).first(sample.length), sample.headers.l3_offset);
    }
    return packets;
}

// Instructions of this thread, in user space.
class Counter {
 public:
    Counter() {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
        attributes.disabled = 1;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        fd_.reset(
            static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
        if (!fd_) reason_ = std::strerror(errno);
    }
    bool available() const { return static_cast<bool>(fd_); }
    const std::string& reason() const { return reason_; }

    std::uint64_t count(const std::string& step, std::uint64_t packets, std::uint64_t& done) {
        ioctl(fd_.get(), PERF_EVENT_IOC_RESET, 0);
        ioctl(fd_.get(), PERF_EVENT_IOC_ENABLE, 0);
        done = *run_step(step, packets);
        ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0);
        std::uint64_t value = 0;
        return read(fd_.get(), &value, sizeof value) == sizeof value ? value : 0;
    }

 private:
    ipc::UniqueFd fd_;
    std::string reason_;
};

struct Outside {
    std::uint64_t instructions = 0;
    std::uint64_t packets = 0;
};

// This program under callgrind, which counts the whole process.
std::optional<Outside> count_outside(const std::string& program, const std::string& step,
                                     std::uint64_t packets) {
    const std::string command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null '" + program +
                                "' --step " + step + " --packets " + std::to_string(packets) + " 2>&1";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe) return std::nullopt;
    Outside counted;
    std::array<char, 512> line;
    while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
        unsigned long long value = 0;
        if (const char* at = std::strstr(line.data(), "Collected :"); at != nullptr) {
            if (std::sscanf(at, "Collected : %llu", &value) == 1) counted.instructions = value;
        } else if (std::sscanf(line.data(), "packets %llu", &value) == 1) {
            counted.packets = value;
        }
    }
    if (counted.instructions == 0 || counted.packets == 0) return std::nullopt;
    return counted;
}

}  // namespace

std::optional<std::uint64_t> run_step(const std::string& step, std::uint64_t packets) {
    if (step == "decode") return decode_packets(packets);
    if (step == "encode") return encode_packets(packets);
    if (step == "icrc") return seal_packets(packets);
    if (step == "engine") return run_engines(workloads[0], packets / 64 + 1);
    return std::nullopt;
}

InstructionCounts count_instructions(const std::string& program) {
    constexpr std::uint64_t few = 2000;
    constexpr std::uint64_t many = 22000;
    InstructionCounts counts;
    Counter counter;
    const bool valgrind = std::system("command -v valgrind >/dev/null 2>&1") == 0;
    if (!counter.available() && !valgrind) {
        counts.counted_by =
            "not available: perf_event_open: " + counter.reason() + "; valgrind is not installed";
        return counts;
    }
    counts.counted_by = counter.available() ? "perf_event_open" : "callgrind";
    for (const char* step : steps) {
        // The difference of two runs: what starting costs drops out.
        Outside small;
        Outside large;
        if (counter.available()) {
            small.instructions = counter.count(step, few, small.packets);
            large.instructions = counter.count(step, many, large.packets);
        } else {
            const auto first = count_outside(program, step, few);
            const auto second = count_outside(program, step, many);
            if (!first || !second) {
                counts.counted_by = "not available: valgrind gave no count for " + std::string(step);
                counts.steps.clear();
                return counts;
            }
            small = *first;
            large = *second;
        }
        counts.steps.push_back({step, static_cast<double>(large.instructions - small.instructions) /
                                          static_cast<double>(large.packets - small.packets)});
    }
    return counts;
}

}  // namespace rocem::tools
