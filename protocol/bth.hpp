// Base transport header (IBTA 9.2), big endian:
//
//   byte 0    OpCode
//   byte 1    SE | MigReq | PadCnt(2) | TVer(4)
//   byte 2-3  P_Key
//   byte 4    FECN | BECN | resv6
//   byte 5-7  DestQP
//   byte 8    AckReq | resv7
//   byte 9-11 PSN
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"
#include "protocol/psn.hpp"

namespace rocem::protocol {

struct Bth {
    static constexpr std::size_t size = 12;

    std::uint8_t opcode = 0;
    bool solicited_event = false;
    bool mig_req = false;
    std::uint8_t pad_count = 0;  // 0..3
    std::uint8_t t_ver = 0;      // 0..15; 0 is the only version
    PKey p_key{0xffff};
    bool fecn = false;
    bool becn = false;
    std::uint8_t resv6 = 0;  // 6 bits
    Qpn dest_qp;
    bool ack_request = false;
    std::uint8_t resv7 = 0;  // 7 bits
    Psn psn;

    static Bth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Bth&, const Bth&) = default;
};

}  // namespace rocem::protocol
