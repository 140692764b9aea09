// A capture in memory: every frame taken apart, with what a responder needs to judge it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "protocol/packet.hpp"

namespace rocem::tools {

struct ReplayFrame {
    std::size_t number = 0;  // from 1, as capture tools count
    std::chrono::nanoseconds since_start{};
    std::vector<std::byte> bytes;
    std::size_t original_bytes = 0;
    protocol::Packet packet;  // points into bytes
    bool understood = false;  // parse_frame took all of it
    bool icrc_right = false;

    // A copy's packet would point into the original.
    ReplayFrame() = default;
    ReplayFrame(ReplayFrame&&) = default;
    ReplayFrame& operator=(ReplayFrame&&) = default;

    bool is_rc() const {
        return packet.is_roce() && packet.roce.info != nullptr &&
               packet.roce.info->service == protocol::Service::rc;
    }
    bool is_request() const { return is_rc() && packet.roce.info->is_request; }
    bool is_answer() const { return is_rc() && !packet.roce.info->is_request; }
    // The capture holds less of it than the wire did.
    bool cut() const { return bytes.size() < original_bytes; }
    // Whole and with a right ICRC: what a NIC may look at.
    bool intact() const { return understood && icrc_right && !cut(); }
};

using Capture = std::vector<ReplayFrame>;

// A frame of a capture that is being put together.
void append_frame(Capture& capture, std::vector<std::byte> bytes, std::chrono::nanoseconds since_start,
                  std::size_t original_bytes = 0);

// The whole file. An error is one sentence that begins with the path.
tl::expected<Capture, std::string> read_capture(const std::string& path);

}  // namespace rocem::tools
