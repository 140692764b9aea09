#include "protocol/opcode.hpp"

namespace rocem::protocol {
namespace {

constexpr std::uint8_t extended_bytes(const OpcodeInfo& row) {
    return static_cast<std::uint8_t>(
        (row.has_xrceth ? 4 : 0) + (row.has_deth ? 8 : 0) + (row.has_feth ? 4 : 0) + (row.has_reth ? 16 : 0) +
        (row.has_atomic_eth ? 28 : 0) + (row.has_aeth ? 4 : 0) + (row.has_atomic_ack_eth ? 8 : 0) +
        (row.has_immdt ? 4 : 0) + (row.has_ieth ? 4 : 0));
}

struct Table {
    std::array<OpcodeInfo, 256> rows{};
    std::array<bool, 256> known{};

    constexpr void add(OpcodeInfo row) {
        row.extended_header_bytes = extended_bytes(row);
        rows[static_cast<std::uint8_t>(row.opcode)] = row;
        known[static_cast<std::uint8_t>(row.opcode)] = true;
    }
};

constexpr OpcodeInfo row(Service service, std::uint8_t code, std::string_view name, Operation operation,
                         Position position, PayloadRule payload) {
    OpcodeInfo info;
    info.name = name;
    info.opcode = static_cast<Opcode>(static_cast<std::uint8_t>(service) + code);
    info.service = service;
    info.operation = operation;
    info.position = position;
    info.payload = payload;
    info.is_request = operation != Operation::rdma_read_response && operation != Operation::acknowledge &&
                      operation != Operation::atomic_acknowledge && operation != Operation::cnp;
    info.has_xrceth = service == Service::xrc && info.is_request;
    return info;
}

constexpr OpcodeInfo with_immediate(OpcodeInfo info) {
    info.has_immdt = true;
    return info;
}
constexpr OpcodeInfo with_invalidate(OpcodeInfo info) {
    info.has_ieth = true;
    return info;
}
constexpr OpcodeInfo with_reth(OpcodeInfo info) {
    info.has_reth = true;
    return info;
}
constexpr OpcodeInfo with_aeth(OpcodeInfo info) {
    info.has_aeth = true;
    return info;
}
constexpr OpcodeInfo with_deth(OpcodeInfo info) {
    info.has_deth = true;
    return info;
}

// SEND and WRITE: the codes that RC, UC and XRC share.
constexpr void add_sends_and_writes(Table& table, Service s) {
    using enum Operation;
    using enum Position;
    using enum PayloadRule;
    table.add(row(s, 0x00, "SEND_FIRST", send, first, full));
    table.add(row(s, 0x01, "SEND_MIDDLE", send, middle, full));
    table.add(row(s, 0x02, "SEND_LAST", send, last, one_to_mtu));
    table.add(with_immediate(row(s, 0x03, "SEND_LAST_WITH_IMMEDIATE", send, last, one_to_mtu)));
    table.add(row(s, 0x04, "SEND_ONLY", send, only, zero_to_mtu));
    table.add(with_immediate(row(s, 0x05, "SEND_ONLY_WITH_IMMEDIATE", send, only, zero_to_mtu)));
    table.add(with_reth(row(s, 0x06, "RDMA_WRITE_FIRST", rdma_write, first, full)));
    table.add(row(s, 0x07, "RDMA_WRITE_MIDDLE", rdma_write, middle, full));
    table.add(row(s, 0x08, "RDMA_WRITE_LAST", rdma_write, last, one_to_mtu));
    table.add(with_immediate(row(s, 0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", rdma_write, last, one_to_mtu)));
    table.add(with_reth(row(s, 0x0a, "RDMA_WRITE_ONLY", rdma_write, only, zero_to_mtu)));
    table.add(with_immediate(
        with_reth(row(s, 0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", rdma_write, only, zero_to_mtu))));
}

// READ, atomics, acknowledgements, invalidate, FLUSH and ATOMIC WRITE: RC and XRC.
constexpr void add_reliable(Table& table, Service s) {
    using enum Operation;
    using enum Position;
    using enum PayloadRule;
    table.add(with_reth(row(s, 0x0c, "RDMA_READ_REQUEST", rdma_read_request, only, none)));
    table.add(with_aeth(row(s, 0x0d, "RDMA_READ_RESPONSE_FIRST", rdma_read_response, first, full)));
    table.add(row(s, 0x0e, "RDMA_READ_RESPONSE_MIDDLE", rdma_read_response, middle, full));
    table.add(with_aeth(row(s, 0x0f, "RDMA_READ_RESPONSE_LAST", rdma_read_response, last, one_to_mtu)));
    table.add(with_aeth(row(s, 0x10, "RDMA_READ_RESPONSE_ONLY", rdma_read_response, only, zero_to_mtu)));
    table.add(with_aeth(row(s, 0x11, "ACKNOWLEDGE", acknowledge, only, none)));
    OpcodeInfo atomic_ack = with_aeth(row(s, 0x12, "ATOMIC_ACKNOWLEDGE", atomic_acknowledge, only, none));
    atomic_ack.has_atomic_ack_eth = true;
    table.add(atomic_ack);
    OpcodeInfo cas = row(s, 0x13, "COMPARE_SWAP", compare_swap, only, none);
    cas.has_atomic_eth = true;
    table.add(cas);
    OpcodeInfo faa = row(s, 0x14, "FETCH_ADD", fetch_add, only, none);
    faa.has_atomic_eth = true;
    table.add(faa);
    table.add(with_invalidate(row(s, 0x16, "SEND_LAST_WITH_INVALIDATE", send, last, one_to_mtu)));
    table.add(with_invalidate(row(s, 0x17, "SEND_ONLY_WITH_INVALIDATE", send, only, zero_to_mtu)));
    OpcodeInfo flush_row = with_reth(row(s, 0x1c, "FLUSH", flush, only, none));
    flush_row.has_feth = true;
    table.add(flush_row);
    table.add(with_reth(row(s, 0x1d, "ATOMIC_WRITE", atomic_write, only, exactly_8)));
}

constexpr Table make_table() {
    Table table;
    add_sends_and_writes(table, Service::rc);
    add_reliable(table, Service::rc);
    add_sends_and_writes(table, Service::uc);
    table.add(with_deth(
        row(Service::ud, 0x04, "SEND_ONLY", Operation::send, Position::only, PayloadRule::zero_to_mtu)));
    table.add(with_immediate(with_deth(row(Service::ud, 0x05, "SEND_ONLY_WITH_IMMEDIATE", Operation::send,
                                           Position::only, PayloadRule::zero_to_mtu))));
    OpcodeInfo cnp_row = row(Service::cnp, 0x01, "CNP", Operation::cnp, Position::only, PayloadRule::none);
    table.add(cnp_row);
    table.rows[static_cast<std::uint8_t>(Opcode::cnp)].extended_header_bytes =
        16;  // reserved (annex A17.9.3)
    add_sends_and_writes(table, Service::xrc);
    add_reliable(table, Service::xrc);
    return table;
}

constexpr Table table = make_table();

constexpr int known_count() {
    int count = 0;
    for (bool known : table.known)
        count += known ? 1 : 0;
    return count;
}
static_assert(known_count() == 25 + 12 + 2 + 1 + 25);
static_assert(table.rows[0x0b].extended_header_bytes == 20);
static_assert(table.rows[0xb3].extended_header_bytes == 32);
static_assert(!table.rows[0xad].has_xrceth && table.rows[0xac].has_xrceth);

}  // namespace

const OpcodeInfo* opcode_info(std::uint8_t opcode) {
    return table.known[opcode] ? &table.rows[opcode] : nullptr;
}

std::string_view service_name(Service service) {
    switch (service) {
        case Service::rc:
            return "RC";
        case Service::uc:
            return "UC";
        case Service::rd:
            return "RD";
        case Service::ud:
            return "UD";
        case Service::cnp:
            return "CNP";
        case Service::xrc:
            return "XRC";
    }
    return "?";
}

}  // namespace rocem::protocol
