#include "pcap_reader.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <utility>

namespace rocem::tools {
namespace {

std::string link_type_name(int link_type) {
    const char* name = pcap_datalink_val_to_name(link_type);
    return std::to_string(link_type) + (name != nullptr ? std::string(" (") + name + ")" : "");
}

}  // namespace

void PcapReader::Close::operator()(pcap* handle) const {
    pcap_close(handle);
}

PcapReader::PcapReader(std::string path, std::unique_ptr<pcap, Close> handle)
    : path_(std::move(path)), handle_(std::move(handle)) {}

tl::expected<PcapReader, std::string> PcapReader::open(const std::string& path) {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    std::unique_ptr<pcap, Close> handle(
        pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    if (handle == nullptr) {
        std::string text = why.data();
        // libpcap names the file in some messages only.
        if (text.rfind(path, 0) != 0) text = path + ": " + text;
        return tl::unexpected(text);
    }
    const int link_type = pcap_datalink(handle.get());
    if (link_type != DLT_EN10MB) {
        return tl::unexpected(path + ": link type " + link_type_name(link_type) +
                              " is not supported, only Ethernet is");
    }
    return PcapReader(path, std::move(handle));
}

tl::expected<std::optional<CapturedFrame>, std::string> PcapReader::next() {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int result = pcap_next_ex(handle_.get(), &header, &data);
    if (result == PCAP_ERROR_BREAK) return std::nullopt;  // the end of the file
    if (result != 1) return tl::unexpected(path_ + ": " + pcap_geterr(handle_.get()));
    CapturedFrame frame;
    frame.bytes = std::as_bytes(std::span(data, header->caplen));
    frame.original_bytes = std::max<std::size_t>(header->len, header->caplen);
    // With nanosecond precision tv_usec counts nanoseconds.
    frame.time = std::chrono::seconds(header->ts.tv_sec) + std::chrono::nanoseconds(header->ts.tv_usec);
    return frame;
}

}  // namespace rocem::tools
