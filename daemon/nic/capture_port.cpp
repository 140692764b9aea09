#include "daemon/nic/capture_port.hpp"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "ipc/unique_fd.hpp"

namespace rocem::daemon {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;
constexpr int snapshot_bytes = 65535;

// Records of whole frames in a ring of bytes, from the worker to the writer.
class RecordRing {
 public:
    // False if there is no room.
    bool push(std::int64_t time_ns, std::span<const std::byte> frame) {
        const Header header{time_ns, static_cast<std::uint32_t>(frame.size())};
        const std::size_t at = produced_.load(std::memory_order_relaxed);
        const std::size_t used = at - consumed_.load(std::memory_order_acquire);
        if (buffer_.size() - used < sizeof header + frame.size()) return false;
        copy_in(at, std::as_bytes(std::span(&header, 1)));
        copy_in(at + sizeof header, frame);
        produced_.store(at + sizeof header + frame.size(), std::memory_order_seq_cst);
        return true;
    }

    bool pop(std::int64_t& time_ns, std::vector<std::byte>& frame) {
        const std::size_t at = consumed_.load(std::memory_order_relaxed);
        if (at == produced_.load(std::memory_order_seq_cst)) return false;
        Header header{};
        copy_out(at, std::as_writable_bytes(std::span(&header, 1)));
        frame.resize(header.length);
        copy_out(at + sizeof header, frame);
        time_ns = header.time_ns;
        consumed_.store(at + sizeof header + header.length, std::memory_order_release);
        return true;
    }

    bool empty() const {
        return produced_.load(std::memory_order_seq_cst) == consumed_.load(std::memory_order_relaxed);
    }

 private:
    struct Header {
        std::int64_t time_ns;
        std::uint32_t length;
    };

    void copy_in(std::size_t at, std::span<const std::byte> bytes) {
        at %= buffer_.size();
        const std::size_t first = std::min(bytes.size(), buffer_.size() - at);
        std::memcpy(&buffer_[at], bytes.data(), first);
        std::memcpy(buffer_.data(), bytes.data() + first, bytes.size() - first);
    }

    void copy_out(std::size_t at, std::span<std::byte> bytes) const {
        at %= buffer_.size();
        const std::size_t first = std::min(bytes.size(), buffer_.size() - at);
        std::memcpy(bytes.data(), &buffer_[at], first);
        std::memcpy(bytes.data() + first, buffer_.data(), bytes.size() - first);
    }

    std::vector<std::byte> buffer_ = std::vector<std::byte>(buffer_bytes);
    alignas(64) std::atomic<std::size_t> produced_{0};
    alignas(64) std::atomic<std::size_t> consumed_{0};
};

// The file and the thread that writes it.
class CaptureWriter {
 public:
    CaptureWriter(pcap_t* pcap, pcap_dumper_t* dumper)
        : pcap_(pcap), dumper_(dumper), thread_([this] { run(); }) {}

    ~CaptureWriter() {
        stop_.store(true, std::memory_order_seq_cst);
        ring_bell();
        thread_.join();
        pcap_dump_close(dumper_);
        pcap_close(pcap_);
    }

    void record(std::int64_t time_ns, std::span<const std::byte> frame) {
        if (ring_.push(time_ns, frame)) {
            ++captured_;
        } else {
            ++dropped_;
        }
        if (sleeps_.load(std::memory_order_seq_cst)) ring_bell();
    }

    std::uint64_t captured() const { return captured_; }
    std::uint64_t dropped() const { return dropped_; }
    std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
    void run() {
        std::vector<std::byte> frame;
        frame.reserve(snapshot_bytes);
        for (;;) {
            const bool stopping = stop_.load(std::memory_order_seq_cst);
            write_waiting(frame);
            if (stopping) return;
            std::fflush(pcap_dump_file(dumper_));
            sleeps_.store(true, std::memory_order_seq_cst);
            if (ring_.empty() && !stop_.load(std::memory_order_seq_cst)) {
                std::uint64_t rings = 0;
                [[maybe_unused]] const auto taken = read(bell_.get(), &rings, sizeof rings);  // blocks
            }
            sleeps_.store(false, std::memory_order_seq_cst);
        }
    }

    void write_waiting(std::vector<std::byte>& frame) {
        std::int64_t time_ns = 0;
        while (ring_.pop(time_ns, frame)) {
            constexpr std::int64_t ns_per_s = 1'000'000'000;
            pcap_pkthdr header{};
            header.ts.tv_sec = time_ns / ns_per_s;
            header.ts.tv_usec = time_ns % ns_per_s;  // a nanosecond file keeps nanoseconds here
            header.caplen = header.len = static_cast<std::uint32_t>(frame.size());
            pcap_dump(reinterpret_cast<u_char*>(dumper_), &header,
                      reinterpret_cast<const u_char*>(frame.data()));
            if (std::ferror(pcap_dump_file(dumper_)) != 0) failed_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    void ring_bell() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(bell_.get(), &one, sizeof one);
    }

    pcap_t* pcap_;
    pcap_dumper_t* dumper_;
    RecordRing ring_;
    ipc::UniqueFd bell_{eventfd(0, EFD_CLOEXEC)};
    std::atomic<bool> sleeps_{false};
    std::atomic<bool> stop_{false};
    std::uint64_t captured_ = 0;
    std::uint64_t dropped_ = 0;
    std::atomic<std::uint64_t> failed_{0};
    std::thread thread_;  // last: it uses all the others
};

class CapturePort final : public PacketPort {
 public:
    CapturePort(std::unique_ptr<PacketPort> inner, std::unique_ptr<CaptureWriter> writer,
                std::chrono::nanoseconds offset)
        : inner_(std::move(inner)), writer_(std::move(writer)), offset_(offset) {}

    std::size_t receive(engine::Time now, std::span<FrameBuffer> out) override {
        const std::size_t count = inner_->receive(now, out);
        for (std::size_t i = 0; i < count; ++i)
            record(now, out[i]);
        return count;
    }

    std::size_t transmit(engine::Time now, std::span<const FrameBuffer> frames) override {
        // Before they are handed over: afterwards they belong to the other side. What is pushed back is
        // recorded when it goes.
        const std::size_t room = std::min(frames.size(), inner_->transmit_room());
        for (std::size_t i = 0; i < room; ++i)
            record(now, frames[i]);
        return inner_->transmit(now, frames.first(room));
    }

    std::size_t transmit_room() const override { return inner_->transmit_room(); }
    engine::Time next_deadline() const override { return inner_->next_deadline(); }
    int wait_descriptor() const override { return inner_->wait_descriptor(); }
    bool begin_sleep() override { return inner_->begin_sleep(); }
    void end_sleep() override { inner_->end_sleep(); }
    std::string_view description() const override { return inner_->description(); }

    void append_counters(std::vector<PortCounter>& out) const override {
        out.push_back({"capture_frames", writer_->captured()});
        out.push_back({"capture_dropped", writer_->dropped()});
        out.push_back({"capture_write_errors", writer_->failed()});
        inner_->append_counters(out);
    }

 private:
    void record(engine::Time now, const FrameBuffer& frame) {
        writer_->record((now.time_since_epoch() + offset_).count(), frame.bytes());
    }

    std::unique_ptr<PacketPort> inner_;
    std::unique_ptr<CaptureWriter> writer_;
    std::chrono::nanoseconds offset_;
};

}  // namespace

tl::expected<std::unique_ptr<PacketPort>, std::string> make_capture_port(
    std::unique_ptr<PacketPort> inner, const std::string& path, std::chrono::nanoseconds wall_clock_offset) {
    ipc::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd) return tl::unexpected("capture " + path + ": " + std::strerror(errno));
    // A file that was there before keeps its mode through open(). A FIFO, or a terminal, is left as it is.
    struct stat facts {};
    if (fstat(fd.get(), &facts) != 0 ||
        (S_ISREG(facts.st_mode) && fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0)) {
        return tl::unexpected("capture " + path + ": " + std::strerror(errno));
    }
    std::FILE* file = fdopen(fd.get(), "wb");
    if (file == nullptr) return tl::unexpected("capture " + path + ": " + std::strerror(errno));
    fd.release();
    pcap_t* pcap =
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snapshot_bytes, PCAP_TSTAMP_PRECISION_NANO);
    pcap_dumper_t* dumper = pcap_dump_fopen(pcap, file);
    if (dumper == nullptr) {
        const std::string reason = pcap_geterr(pcap);
        pcap_close(pcap);
        std::fclose(file);
        return tl::unexpected("capture " + path + ": " + reason);
    }
    return std::make_unique<CapturePort>(std::move(inner), std::make_unique<CaptureWriter>(pcap, dumper),
                                         wall_clock_offset);
}

}  // namespace rocem::daemon
