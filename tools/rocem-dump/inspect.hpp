// What is to be known about one captured frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/packet.hpp"
#include "tools/pcap/pcap_reader.hpp"

namespace rocem::tools {

enum class IcrcVerdict : std::uint8_t {
    none,  // not RoCE
    ok,
    bad,
    not_checked,  // cut off by the capture, or too malformed to have one
};

std::string_view icrc_verdict_word(IcrcVerdict verdict);

struct Inspection {
    protocol::Packet packet;                      // as far as it was understood; points into the frame
    std::optional<protocol::DropReason> refused;  // why it was not understood to its end
    bool cut_by_capture = false;                  // the capture holds less than the frame had
    IcrcVerdict icrc = IcrcVerdict::none;
    std::uint32_t computed_icrc = 0;          // where icrc is ok or bad
    std::optional<bool> ipv4_checksum_right;  // nothing where there is none, or it cannot be computed
    std::optional<bool> udp_checksum_right;
};

Inspection inspect(const CapturedFrame& frame);

// The four bytes as they stand on the wire, in hexadecimal.
std::string icrc_on_the_wire(std::uint32_t icrc);
std::string icrc_on_the_wire(const protocol::Packet& packet);

// The frame in one line: what it is, what is wrong with it, and the verdict on its ICRC.
std::string describe(const Inspection& inspection);

}  // namespace rocem::tools
