// Capture files made by hand, in the formats that rocem-dump must read or refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rocem::test {

// A directory of its own that goes away with the test.
class TemporaryDirectory {
 public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
    std::filesystem::path path_;
};

enum class ByteOrder : std::uint8_t { little, big };

inline constexpr std::uint32_t pcap_magic_microseconds = 0xa1b2c3d4;
inline constexpr std::uint32_t pcap_magic_nanoseconds = 0xa1b23c4d;
inline constexpr std::uint32_t link_type_ethernet = 1;
inline constexpr std::uint32_t link_type_erf = 197;

struct TimedFrame {
    std::uint32_t seconds = 0;
    std::uint32_t fraction = 0;  // in the file's unit
    std::vector<std::byte> bytes;
    std::size_t original_bytes = 0;  // 0: as many
};

// The classic format (draft-ietf-opsawg-pcap).
struct PcapFormat {
    ByteOrder order = ByteOrder::little;
    std::uint32_t magic = pcap_magic_microseconds;
    std::uint32_t link_type = link_type_ethernet;
};
std::vector<std::byte> pcap_file(const PcapFormat& format, std::span<const TimedFrame> frames);

struct PcapngInterface {
    std::uint16_t link_type = 1;
    std::uint32_t snapshot_bytes = 65535;
    bool nanoseconds = false;  // otherwise the default, microseconds
};
// pcapng (draft-ietf-opsawg-pcapng): the frames alternate between the interfaces; each one's fraction is in
// its interface's unit.
std::vector<std::byte> pcapng_file(ByteOrder order, std::span<const PcapngInterface> interfaces,
                                   std::span<const TimedFrame> frames);

void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace rocem::test
