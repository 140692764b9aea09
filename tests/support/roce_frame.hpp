// RC packets over RoCE v2 and IPv4, read and written by hand from rocev2.md 5.1, 5.2 and 5.6: a second
// opinion that shares no code with protocol/. The ICRC is the exception, protocol/ has its own oracle for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rocem::test {

enum class Op : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_imm = 0x03,
    send_only = 0x04,
    send_only_imm = 0x05,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_last_imm = 0x09,
    write_only = 0x0a,
    write_only_imm = 0x0b,
    read_request = 0x0c,
    read_response_first = 0x0d,
    read_response_middle = 0x0e,
    read_response_last = 0x0f,
    read_response_only = 0x10,
    acknowledge = 0x11,
    atomic_acknowledge = 0x12,
    compare_swap = 0x13,
    fetch_add = 0x14,
};

// Syndromes, rocev2.md 5.4. An RNR NAK is 0x20 | timer code.
inline constexpr std::uint8_t syndrome_ack = 0x1f;  // no credit information
inline constexpr std::uint8_t syndrome_rnr = 0x20;
inline constexpr std::uint8_t syndrome_psn_sequence = 0x60;
inline constexpr std::uint8_t syndrome_invalid_request = 0x61;
inline constexpr std::uint8_t syndrome_remote_access = 0x62;
inline constexpr std::uint8_t syndrome_remote_operational = 0x63;

constexpr std::uint32_t psn_mask = 0xffffff;

// Signed distance a - b on the circle of 2^24.
constexpr std::int32_t psn_distance(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

struct RocePacket {
    Op opcode = Op::acknowledge;
    bool solicited_event = false;
    bool mig_req = true;
    std::uint8_t pad_count = 0;
    std::uint8_t version = 0;
    std::uint16_t p_key = 0xffff;
    std::uint32_t dest_qpn = 0;
    bool ack_request = false;
    std::uint32_t psn = 0;
    std::uint64_t va = 0;            // RETH, AtomicETH
    std::uint32_t r_key = 0;         // RETH, AtomicETH
    std::uint32_t dma_length = 0;    // RETH
    std::uint64_t swap_or_add = 0;   // AtomicETH
    std::uint64_t compare = 0;       // AtomicETH
    std::uint8_t syndrome = 0;       // AETH
    std::uint32_t msn = 0;           // AETH
    std::uint64_t original = 0;      // AtomicAckETH
    std::uint32_t immediate = 0;     // ImmDt
    std::vector<std::byte> payload;  // without pad

    bool is_response() const;
    bool is_positive_ack() const { return opcode == Op::acknowledge && (syndrome & 0xe0) == 0; }
    bool is_rnr_nak() const { return opcode == Op::acknowledge && (syndrome & 0xe0) == 0x20; }
    bool is_nak() const { return opcode == Op::acknowledge && (syndrome & 0xe0) == 0x60; }
    bool is_read_response() const {
        return opcode >= Op::read_response_first && opcode <= Op::read_response_only;
    }
};

std::string name_of(Op opcode);

struct Address {
    std::array<std::uint8_t, 6> mac{};
    std::array<std::uint8_t, 4> ip{};
};

// What of the outer headers a story looks at.
struct OuterFacts {
    std::uint16_t udp_length = 0;
    std::uint16_t source_port = 0;
    std::uint8_t tos = 0;
    std::uint8_t ttl = 0;
    bool pad_is_zero = true;
};

// Throws std::runtime_error on a frame that is not one of ours.
RocePacket read_frame(std::span<const std::byte> frame, OuterFacts* outer = nullptr);

// The whole frame with its ICRC.
std::vector<std::byte> write_frame(const RocePacket& packet, const Address& from, const Address& to,
                                   std::uint16_t source_port = 0xc123);

}  // namespace rocem::test
