#include "tools/rocem-replay/capture.hpp"

#include <algorithm>
#include <utility>

#include "protocol/icrc.hpp"
#include "tools/pcap/pcap_reader.hpp"

namespace rocem::tools {

void append_frame(Capture& capture, std::vector<std::byte> bytes, std::chrono::nanoseconds since_start,
                  std::size_t original_bytes) {
    ReplayFrame frame;
    frame.number = capture.size() + 1;
    // A clock that was set back does not turn the order of a capture around.
    frame.since_start = capture.empty() ? since_start : std::max(since_start, capture.back().since_start);
    frame.bytes = std::move(bytes);
    frame.original_bytes = std::max(original_bytes, frame.bytes.size());
    frame.understood =
        protocol::parse_frame_into(frame.packet, frame.bytes, frame.original_bytes).has_value();
    frame.icrc_right = frame.understood && frame.packet.is_roce() && frame.packet.icrc_present &&
                       protocol::icrc_is_right(frame.packet.l3);
    capture.push_back(std::move(frame));  // moves the bytes' owner, not the bytes
}

tl::expected<Capture, std::string> read_capture(const std::string& path) {
    auto reader = PcapReader::open(path);
    if (!reader) return tl::unexpected(reader.error());
    Capture capture;
    std::chrono::nanoseconds start{};
    for (;;) {
        const auto frame = reader->next();
        if (!frame) return tl::unexpected(frame.error());
        if (!*frame) return capture;
        const CapturedFrame& captured = **frame;
        if (capture.empty()) start = captured.time;
        append_frame(capture, {captured.bytes.begin(), captured.bytes.end()}, captured.time - start,
                     captured.original_bytes);
    }
}

}  // namespace rocem::tools
