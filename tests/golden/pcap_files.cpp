#include "tests/golden/pcap_files.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace rocem::test {
namespace {

class Writer {
 public:
    explicit Writer(ByteOrder order) : order_(order) {}

    template <class Int>
    void number(Int value) {
        for (std::size_t i = 0; i < sizeof value; ++i) {
            const std::size_t shift = order_ == ByteOrder::little ? i : sizeof value - 1 - i;
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * shift)));
        }
    }
    void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void align() { bytes_.resize((bytes_.size() + 3) / 4 * 4); }
    const std::vector<std::byte>& bytes() const { return bytes_; }

    // A pcapng block: type, length, body, length again.
    void block(std::uint32_t type, Writer body) {
        body.align();
        const auto length = static_cast<std::uint32_t>(body.bytes_.size() + 12);
        number(type);
        number(length);
        raw(body.bytes_);
        number(length);
    }

 private:
    ByteOrder order_;
    std::vector<std::byte> bytes_;
};

std::uint32_t original_bytes(const TimedFrame& frame) {
    return static_cast<std::uint32_t>(std::max(frame.original_bytes, frame.bytes.size()));
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocem-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::byte> pcap_file(const PcapFormat& format, std::span<const TimedFrame> frames) {
    constexpr std::uint32_t snapshot_bytes = 65535;
    Writer file(format.order);
    file.number(format.magic);
    file.number(std::uint16_t{2});
    file.number(std::uint16_t{4});
    file.number(std::uint64_t{0});  // time zone and accuracy
    file.number(snapshot_bytes);
    file.number(format.link_type);
    for (const TimedFrame& frame : frames) {
        file.number(frame.seconds);
        file.number(frame.fraction);
        file.number(static_cast<std::uint32_t>(frame.bytes.size()));
        file.number(original_bytes(frame));
        file.raw(frame.bytes);
    }
    return file.bytes();
}

std::vector<std::byte> pcapng_file(ByteOrder order, std::span<const PcapngInterface> interfaces,
                                   std::span<const TimedFrame> frames) {
    constexpr std::uint32_t section_header = 0x0a0d0d0a;
    constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
    constexpr std::uint32_t interface_description = 1;
    constexpr std::uint32_t enhanced_packet = 6;
    constexpr std::uint16_t option_time_resolution = 9;

    Writer file(order);
    Writer section(order);
    section.number(byte_order_magic);
    section.number(std::uint16_t{1});
    section.number(std::uint16_t{0});
    section.number(~std::uint64_t{0});  // length unknown
    file.block(section_header, section);
    for (const PcapngInterface& interface : interfaces) {
        Writer description(order);
        description.number(interface.link_type);
        description.number(std::uint16_t{0});
        description.number(interface.snapshot_bytes);
        if (interface.nanoseconds) {
            description.number(option_time_resolution);
            description.number(std::uint16_t{1});
            description.number(std::uint8_t{9});
            description.align();
            description.number(std::uint32_t{0});  // the end of the options
        }
        file.block(interface_description, description);
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const TimedFrame& frame = frames[i];
        const std::size_t index = i % interfaces.size();
        const std::uint64_t units = interfaces[index].nanoseconds ? 1'000'000'000 : 1'000'000;
        const std::uint64_t time = frame.seconds * units + frame.fraction;
        Writer packet(order);
        packet.number(static_cast<std::uint32_t>(index));
        packet.number(static_cast<std::uint32_t>(time >> 32));
        packet.number(static_cast<std::uint32_t>(time));
        packet.number(static_cast<std::uint32_t>(frame.bytes.size()));
        packet.number(original_bytes(frame));
        packet.raw(frame.bytes);
        file.block(enhanced_packet, packet);
    }
    return file.bytes();
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace rocem::test
