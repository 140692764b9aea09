// The table against a second one, typed from rocev2.md 5.2 row by row.
#include "protocol/opcode.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>

using namespace rocem::protocol;

namespace {

struct Row {
    unsigned code;  // RC, or the row's own service where there is no RC opcode of it
    const char* name;
    const char* headers;  // behind the BTH, in order
    const char* payload;
    bool request;
};

constexpr Row rc_rows[] = {
    {0x00, "SEND_FIRST", "", "mtu", true},
    {0x01, "SEND_MIDDLE", "", "mtu", true},
    {0x02, "SEND_LAST", "", "1..mtu", true},
    {0x03, "SEND_LAST_WITH_IMMEDIATE", "immdt", "1..mtu", true},
    {0x04, "SEND_ONLY", "", "0..mtu", true},
    {0x05, "SEND_ONLY_WITH_IMMEDIATE", "immdt", "0..mtu", true},
    {0x06, "RDMA_WRITE_FIRST", "reth", "mtu", true},
    {0x07, "RDMA_WRITE_MIDDLE", "", "mtu", true},
    {0x08, "RDMA_WRITE_LAST", "", "1..mtu", true},
    {0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", "immdt", "1..mtu", true},
    {0x0a, "RDMA_WRITE_ONLY", "reth", "0..mtu", true},
    {0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", "reth immdt", "0..mtu", true},
    {0x0c, "RDMA_READ_REQUEST", "reth", "none", true},
    {0x0d, "RDMA_READ_RESPONSE_FIRST", "aeth", "mtu", false},
    {0x0e, "RDMA_READ_RESPONSE_MIDDLE", "", "mtu", false},
    {0x0f, "RDMA_READ_RESPONSE_LAST", "aeth", "1..mtu", false},
    {0x10, "RDMA_READ_RESPONSE_ONLY", "aeth", "0..mtu", false},
    {0x11, "ACKNOWLEDGE", "aeth", "none", false},
    {0x12, "ATOMIC_ACKNOWLEDGE", "aeth atomic_ack_eth", "none", false},
    {0x13, "COMPARE_SWAP", "atomic_eth", "none", true},
    {0x14, "FETCH_ADD", "atomic_eth", "none", true},
    {0x16, "SEND_LAST_WITH_INVALIDATE", "ieth", "1..mtu", true},
    {0x17, "SEND_ONLY_WITH_INVALIDATE", "ieth", "0..mtu", true},
    {0x1c, "FLUSH", "feth reth", "none", true},
    {0x1d, "ATOMIC_WRITE", "reth", "8", true},
};
constexpr unsigned uc_rows = 12;  // the first of them

constexpr Row datagram_rows[] = {
    {0x64, "SEND_ONLY", "deth", "0..mtu", true},
    {0x65, "SEND_ONLY_WITH_IMMEDIATE", "deth immdt", "0..mtu", true},
};

std::string headers_of(const OpcodeInfo& info) {
    std::string names;
    const auto add = [&names](bool has, const char* name) {
        if (has) names += (names.empty() ? "" : " ") + std::string(name);
    };
    add(info.has_xrceth, "xrceth");
    add(info.has_deth, "deth");
    add(info.has_feth, "feth");
    add(info.has_reth, "reth");
    add(info.has_atomic_eth, "atomic_eth");
    add(info.has_aeth, "aeth");
    add(info.has_atomic_ack_eth, "atomic_ack_eth");
    add(info.has_immdt, "immdt");
    add(info.has_ieth, "ieth");
    return names;
}

std::string payload_of(const OpcodeInfo& info) {
    const std::map<PayloadRule, std::string> words = {{PayloadRule::none, "none"},
                                                      {PayloadRule::full, "mtu"},
                                                      {PayloadRule::one_to_mtu, "1..mtu"},
                                                      {PayloadRule::zero_to_mtu, "0..mtu"},
                                                      {PayloadRule::exactly_8, "8"}};
    return words.at(info.payload);
}

unsigned bytes_of(const std::string& headers) {
    const std::map<std::string, unsigned> sizes = {{"xrceth", 4},         {"deth", 8},        {"feth", 4},
                                                   {"reth", 16},          {"atomic_eth", 28}, {"aeth", 4},
                                                   {"atomic_ack_eth", 8}, {"immdt", 4},       {"ieth", 4}};
    unsigned bytes = 0;
    for (std::size_t at = 0; at < headers.size();) {
        const std::size_t end = std::min(headers.find(' ', at), headers.size());
        bytes += sizes.at(headers.substr(at, end - at));
        at = end + 1;
    }
    return bytes;
}

void check_row(unsigned code, Service service, const Row& row, const std::string& headers) {
    INFO(code);
    const OpcodeInfo* info = opcode_info(static_cast<std::uint8_t>(code));
    REQUIRE(info != nullptr);
    CHECK(static_cast<unsigned>(info->opcode) == code);
    CHECK(info->service == service);
    CHECK(info->name == row.name);
    CHECK(headers_of(*info) == headers);
    CHECK(unsigned{info->extended_header_bytes} == bytes_of(headers));
    CHECK(payload_of(*info) == row.payload);
    CHECK(info->is_request == row.request);
    const std::string name = row.name;
    const bool middle = name.find("MIDDLE") != std::string::npos;
    CHECK(info->starts_message() == (!middle && name.find("LAST") == std::string::npos));
    CHECK(info->ends_message() == (!middle && name.find("FIRST") == std::string::npos));
}

}  // namespace

TEST_CASE("opcodes of RC, UC, UD, XRC and CNP", "[opcode]") {
    unsigned index = 0;
    for (const Row& row : rc_rows) {
        check_row(row.code, Service::rc, row, row.headers);
        if (index++ < uc_rows) check_row(0x20 + row.code, Service::uc, row, row.headers);
        // XRC: the same with an XRCETH in front, in requests only.
        const std::string headers = row.headers;
        const std::string xrc = row.request ? "xrceth" + (headers.empty() ? "" : " " + headers) : headers;
        check_row(0xa0 + row.code, Service::xrc, row, xrc);
    }
    for (const Row& row : datagram_rows)
        check_row(row.code, Service::ud, row, row.headers);

    const OpcodeInfo* cnp = opcode_info(0x81);
    REQUIRE(cnp != nullptr);
    CHECK(cnp->service == Service::cnp);
    CHECK(cnp->operation == Operation::cnp);
    CHECK(cnp->extended_header_bytes == 16);
    CHECK_FALSE(cnp->is_request);
}

TEST_CASE("every other opcode is reserved", "[opcode]") {
    std::array<bool, 256> known{};
    unsigned index = 0;
    for (const Row& row : rc_rows) {
        known[row.code] = known[0xa0 + row.code] = true;
        if (index++ < uc_rows) known[0x20 + row.code] = true;
    }
    known[0x64] = known[0x65] = known[0x81] = true;
    for (unsigned code = 0; code < 256; ++code) {
        INFO(code);
        CHECK((opcode_info(static_cast<std::uint8_t>(code)) != nullptr) == known[code]);
    }
}

TEST_CASE("operations", "[opcode]") {
    const auto [opcode, operation] = GENERATE(table<Opcode, Operation>({
        {Opcode::rc_send_middle, Operation::send},
        {Opcode::rc_send_only_with_invalidate, Operation::send},
        {Opcode::uc_rdma_write_last_with_immediate, Operation::rdma_write},
        {Opcode::xrc_rdma_read_request, Operation::rdma_read_request},
        {Opcode::rc_rdma_read_response_only, Operation::rdma_read_response},
        {Opcode::rc_acknowledge, Operation::acknowledge},
        {Opcode::rc_atomic_acknowledge, Operation::atomic_acknowledge},
        {Opcode::rc_compare_swap, Operation::compare_swap},
        {Opcode::rc_fetch_add, Operation::fetch_add},
        {Opcode::rc_flush, Operation::flush},
        {Opcode::rc_atomic_write, Operation::atomic_write},
        {Opcode::ud_send_only, Operation::send},
    }));
    CHECK(opcode_info(opcode).operation == operation);
}

TEST_CASE("services by name", "[opcode]") {
    CHECK(service_name(Service::rc) == "RC");
    CHECK(service_name(Service::uc) == "UC");
    CHECK(service_name(Service::rd) == "RD");
    CHECK(service_name(Service::ud) == "UD");
    CHECK(service_name(Service::cnp) == "CNP");
    CHECK(service_name(Service::xrc) == "XRC");
}
