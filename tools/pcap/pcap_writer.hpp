// Writes captures of Ethernet frames: classic pcap with nanoseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

struct pcap;
struct pcap_dumper;

namespace rocem::tools {

class PcapWriter {
 public:
    // Creates the file or empties it. An error is one sentence with the path.
    static tl::expected<PcapWriter, std::string> create(const std::string& path);

    // original_bytes: what the frame had on the wire where bytes are only its beginning (0: all of it).
    void write(std::span<const std::byte> bytes, std::chrono::nanoseconds since_1970,
               std::size_t original_bytes = 0);

    // Writes out what is buffered. An error says that some of what was written is not in the file.
    tl::expected<void, std::string> flush();

 private:
    struct CloseHandle {
        void operator()(pcap* handle) const;
    };
    struct CloseDumper {
        void operator()(pcap_dumper* dumper) const;
    };

    PcapWriter(std::string path, std::unique_ptr<pcap, CloseHandle> handle,
               std::unique_ptr<pcap_dumper, CloseDumper> dumper);

    std::string path_;
    std::unique_ptr<pcap, CloseHandle> handle_;
    std::unique_ptr<pcap_dumper, CloseDumper> dumper_;
};

}  // namespace rocem::tools
