// Reads captures of Ethernet frames: classic pcap of either byte order with microseconds or nanoseconds, and
// pcapng, also of several interfaces if they have one link type and one snapshot length (a limit of libpcap).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

struct pcap;

namespace rocem::tools {

struct CapturedFrame {
    std::span<const std::byte> bytes;  // valid until the reader's next call
    std::size_t original_bytes = 0;    // on the wire, at least bytes.size()
    std::chrono::nanoseconds time{};   // since 1970-01-01 UTC

    bool truncated() const { return bytes.size() < original_bytes; }
};

class PcapReader {
 public:
    // "-" is standard input. An error is one sentence that begins with the path: the file cannot be read, is
    // no capture, or its link type is not Ethernet.
    static tl::expected<PcapReader, std::string> open(const std::string& path);

    // The next frame; nothing at the end of the file; an error if the file ends inside a frame or is damaged.
    tl::expected<std::optional<CapturedFrame>, std::string> next();

 private:
    struct Close {
        void operator()(pcap* handle) const;
    };

    PcapReader(std::string path, std::unique_ptr<pcap, Close> handle);

    std::string path_;
    std::unique_ptr<pcap, Close> handle_;
};

}  // namespace rocem::tools
