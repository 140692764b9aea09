#include "pcap_writer.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace rocem::tools {
namespace {

constexpr int snapshot_bytes = 262144;  // no frame is cut

}  // namespace

void PcapWriter::CloseHandle::operator()(pcap* handle) const {
    pcap_close(handle);
}

void PcapWriter::CloseDumper::operator()(pcap_dumper* dumper) const {
    pcap_dump_close(dumper);
}

PcapWriter::PcapWriter(std::string path, std::unique_ptr<pcap, CloseHandle> handle,
                       std::unique_ptr<pcap_dumper, CloseDumper> dumper)
    : path_(std::move(path)), handle_(std::move(handle)), dumper_(std::move(dumper)) {}

tl::expected<PcapWriter, std::string> PcapWriter::create(const std::string& path) {
    std::unique_ptr<pcap, CloseHandle> handle(
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snapshot_bytes, PCAP_TSTAMP_PRECISION_NANO));
    if (handle == nullptr) return tl::unexpected(path + ": out of memory");
    std::unique_ptr<pcap_dumper, CloseDumper> dumper(pcap_dump_open(handle.get(), path.c_str()));
    if (dumper == nullptr) {
        std::string why = pcap_geterr(handle.get());
        if (why.rfind(path, 0) != 0) why = path + ": " + why;
        return tl::unexpected(why);
    }
    return PcapWriter(path, std::move(handle), std::move(dumper));
}

void PcapWriter::write(std::span<const std::byte> bytes, std::chrono::nanoseconds since_1970,
                       std::size_t original_bytes) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
    pcap_pkthdr header{};
    header.ts.tv_sec = seconds.count();
    header.ts.tv_usec = (since_1970 - seconds).count();  // nanoseconds, as the precision says
    header.caplen = static_cast<bpf_u_int32>(bytes.size());
    header.len = static_cast<bpf_u_int32>(std::max(original_bytes, bytes.size()));
    pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header,
              reinterpret_cast<const u_char*>(bytes.data()));
}

tl::expected<void, std::string> PcapWriter::flush() {
    const bool flushed = pcap_dump_flush(dumper_.get()) == 0;
    if (!flushed || std::ferror(pcap_dump_file(dumper_.get())) != 0)
        return tl::unexpected(path_ + ": cannot write all frames");
    return {};
}

}  // namespace rocem::tools
