// Public frames whose ICRC is known, as fields: what they are built from, and the ICRC bytes on the wire.
#pragma once

#include <string_view>
#include <vector>

#include "protocol/encode.hpp"
#include "tests/unit/protocol/bytes.hpp"

namespace rocem::test {

struct KnownFrame {
    std::string_view name;
    protocol::PathHeaders path;
    std::uint16_t ipv4_identification = 0;
    protocol::RocePacket roce;
    Bytes payload;
    std::string_view icrc;  // as hexadecimal
};

// UC SEND over IPv4, the same over IPv6, a CNP of a ConnectX-4 Lx, RoCE v1 WRITE and ACK, RC READ request.
std::vector<KnownFrame> known_frames();

// The frame without trailer, from the project's own encoder.
Bytes build(const KnownFrame& known);

}  // namespace rocem::test
