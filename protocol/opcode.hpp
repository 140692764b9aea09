// The one table of BTH opcodes: name, service, operation, position, and the headers that follow the BTH
// (IBTA 9.2.1). Code asks the table, never the opcode's bits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rocem::protocol {

enum class Service : std::uint8_t { rc = 0x00, uc = 0x20, rd = 0x40, ud = 0x60, cnp = 0x80, xrc = 0xa0 };

enum class Position : std::uint8_t { first, middle, last, only };

enum class Operation : std::uint8_t {
    send,
    rdma_write,
    rdma_read_request,
    rdma_read_response,
    acknowledge,
    atomic_acknowledge,
    compare_swap,
    fetch_add,
    flush,
    atomic_write,
    cnp,
};

// What a packet of this opcode may carry behind its headers, in bytes.
enum class PayloadRule : std::uint8_t {
    none,
    full,  // exactly the path MTU
    one_to_mtu,
    zero_to_mtu,
    exactly_8,
};

enum class Opcode : std::uint8_t {
    rc_send_first = 0x00,
    rc_send_middle = 0x01,
    rc_send_last = 0x02,
    rc_send_last_with_immediate = 0x03,
    rc_send_only = 0x04,
    rc_send_only_with_immediate = 0x05,
    rc_rdma_write_first = 0x06,
    rc_rdma_write_middle = 0x07,
    rc_rdma_write_last = 0x08,
    rc_rdma_write_last_with_immediate = 0x09,
    rc_rdma_write_only = 0x0a,
    rc_rdma_write_only_with_immediate = 0x0b,
    rc_rdma_read_request = 0x0c,
    rc_rdma_read_response_first = 0x0d,
    rc_rdma_read_response_middle = 0x0e,
    rc_rdma_read_response_last = 0x0f,
    rc_rdma_read_response_only = 0x10,
    rc_acknowledge = 0x11,
    rc_atomic_acknowledge = 0x12,
    rc_compare_swap = 0x13,
    rc_fetch_add = 0x14,
    rc_send_last_with_invalidate = 0x16,
    rc_send_only_with_invalidate = 0x17,
    rc_flush = 0x1c,
    rc_atomic_write = 0x1d,
    uc_send_first = 0x20,
    uc_send_middle = 0x21,
    uc_send_last = 0x22,
    uc_send_last_with_immediate = 0x23,
    uc_send_only = 0x24,
    uc_send_only_with_immediate = 0x25,
    uc_rdma_write_first = 0x26,
    uc_rdma_write_middle = 0x27,
    uc_rdma_write_last = 0x28,
    uc_rdma_write_last_with_immediate = 0x29,
    uc_rdma_write_only = 0x2a,
    uc_rdma_write_only_with_immediate = 0x2b,
    ud_send_only = 0x64,
    ud_send_only_with_immediate = 0x65,
    cnp = 0x81,
    xrc_send_first = 0xa0,
    xrc_send_middle = 0xa1,
    xrc_send_last = 0xa2,
    xrc_send_last_with_immediate = 0xa3,
    xrc_send_only = 0xa4,
    xrc_send_only_with_immediate = 0xa5,
    xrc_rdma_write_first = 0xa6,
    xrc_rdma_write_middle = 0xa7,
    xrc_rdma_write_last = 0xa8,
    xrc_rdma_write_last_with_immediate = 0xa9,
    xrc_rdma_write_only = 0xaa,
    xrc_rdma_write_only_with_immediate = 0xab,
    xrc_rdma_read_request = 0xac,
    xrc_rdma_read_response_first = 0xad,
    xrc_rdma_read_response_middle = 0xae,
    xrc_rdma_read_response_last = 0xaf,
    xrc_rdma_read_response_only = 0xb0,
    xrc_acknowledge = 0xb1,
    xrc_atomic_acknowledge = 0xb2,
    xrc_compare_swap = 0xb3,
    xrc_fetch_add = 0xb4,
    xrc_send_last_with_invalidate = 0xb6,
    xrc_send_only_with_invalidate = 0xb7,
    xrc_flush = 0xbc,
    xrc_atomic_write = 0xbd,
};

struct OpcodeInfo {
    std::string_view name;  // the spec's word without the service: "RDMA_WRITE_FIRST"
    Opcode opcode{};
    Service service{};
    Operation operation{};
    Position position{};
    PayloadRule payload{};
    bool has_xrceth = false;
    bool has_deth = false;
    bool has_feth = false;
    bool has_reth = false;
    bool has_atomic_eth = false;
    bool has_aeth = false;
    bool has_atomic_ack_eth = false;
    bool has_immdt = false;
    bool has_ieth = false;
    bool is_request = false;
    std::uint8_t extended_header_bytes = 0;  // all headers between BTH and payload

    constexpr bool starts_message() const {
        return position == Position::first || position == Position::only;
    }
    constexpr bool ends_message() const { return position == Position::last || position == Position::only; }
};

// The row of a wire opcode; nullptr for a reserved one.
const OpcodeInfo* opcode_info(std::uint8_t opcode);
inline const OpcodeInfo& opcode_info(Opcode opcode) {
    return *opcode_info(static_cast<std::uint8_t>(opcode));
}

// "RC", "UC", "RD", "UD", "CNP", "XRC".
std::string_view service_name(Service service);

}  // namespace rocem::protocol
