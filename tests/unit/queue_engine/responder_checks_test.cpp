// The checks that need nothing but a packet: rocev2 5.3, 5.8.3, 5.8.7.
#include "queue_engine/responder_checks.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::engine {
namespace {

using protocol::Opcode;

constexpr std::uint32_t mtu = 1024;
constexpr std::uint64_t message_max = std::uint64_t{1} << 31;

struct TestPacket {
    std::vector<std::byte> bytes;
    protocol::RocePacket roce;

    TestPacket(Opcode opcode, std::size_t payload, std::uint32_t dma_length = 0) : bytes(payload) {
        roce.info = &protocol::opcode_info(opcode);
        roce.payload = bytes;
        roce.reth.dma_length = dma_length;
    }
    bool fits() const { return payload_fits(roce, mtu, message_max); }
};

}  // namespace

TEST_CASE("responder checks: payload of FIRST and MIDDLE is the MTU, of LAST 1 to MTU, of ONLY 0 to MTU") {
    struct Row {
        Opcode opcode;
        std::size_t least;
        std::size_t most;
    };
    const Row row =
        GENERATE(Row{Opcode::rc_send_first, mtu, mtu}, Row{Opcode::rc_send_middle, mtu, mtu},
                 Row{Opcode::rc_send_last, 1, mtu}, Row{Opcode::rc_send_only, 0, mtu},
                 Row{Opcode::rc_send_last_with_immediate, 1, mtu},
                 Row{Opcode::rc_rdma_write_middle, mtu, mtu}, Row{Opcode::rc_rdma_write_last, 1, mtu},
                 Row{Opcode::rc_rdma_read_request, 0, 0}, Row{Opcode::rc_fetch_add, 0, 0});
    for (const std::size_t payload : {std::size_t{0}, std::size_t{1}, std::size_t{mtu - 1}, std::size_t{mtu},
                                      std::size_t{mtu + 1}, std::size_t{4096}}) {
        CAPTURE(static_cast<int>(row.opcode), payload);
        CHECK(TestPacket(row.opcode, payload).fits() == (payload >= row.least && payload <= row.most));
    }
}

TEST_CASE("responder checks: RETH promises what can come") {
    CHECK(TestPacket(Opcode::rc_rdma_write_only, 5, 5).fits());
    CHECK(TestPacket(Opcode::rc_rdma_write_only, 0, 0).fits());
    CHECK_FALSE(TestPacket(Opcode::rc_rdma_write_only, 5, 4).fits());
    CHECK_FALSE(TestPacket(Opcode::rc_rdma_write_only, 5, 6).fits());
    CHECK(TestPacket(Opcode::rc_rdma_write_first, mtu, mtu + 1).fits());
    CHECK_FALSE(TestPacket(Opcode::rc_rdma_write_first, mtu, mtu).fits());
    CHECK(TestPacket(Opcode::rc_rdma_write_first, mtu, 1u << 31).fits());
    CHECK_FALSE(TestPacket(Opcode::rc_rdma_write_first, mtu, (1u << 31) + 1).fits());
    CHECK(TestPacket(Opcode::rc_rdma_read_request, 0, 1u << 31).fits());
    CHECK_FALSE(TestPacket(Opcode::rc_rdma_read_request, 0, UINT32_MAX).fits());
}

TEST_CASE("responder checks: a READ takes a PSN for each response, everything else one") {
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_read_request, 0, 0).roce, mtu) == 1);
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_read_request, 0, 1).roce, mtu) == 1);
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_read_request, 0, mtu).roce, mtu) == 1);
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_read_request, 0, mtu + 1).roce, mtu) == 2);
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_read_request, 0, UINT32_MAX).roce, 4096) == 1u << 20);
    CHECK(psns_of_request(TestPacket(Opcode::rc_rdma_write_first, mtu, 1u << 30).roce, mtu) == 1);
}

TEST_CASE("responder checks: the QP's own access flags") {
    const auto enabled = [](std::uint32_t flags, Opcode opcode) {
        return access_is_enabled(flags, protocol::opcode_info(opcode));
    };
    for (std::uint32_t flags = 0; flags < 16; ++flags) {
        CHECK(enabled(flags, Opcode::rc_send_only));
        CHECK(enabled(flags, Opcode::rc_rdma_write_last) == ((flags & access_remote_write) != 0));
        CHECK(enabled(flags, Opcode::rc_rdma_read_request) == ((flags & access_remote_read) != 0));
        CHECK(enabled(flags, Opcode::rc_compare_swap) == ((flags & access_remote_atomic) != 0));
        CHECK(enabled(flags, Opcode::rc_fetch_add) == ((flags & access_remote_atomic) != 0));
    }
}

TEST_CASE("responder checks: operations that an RC responder here does not offer") {
    for (unsigned raw = 0; raw < 0x20; ++raw) {
        const protocol::OpcodeInfo* info = protocol::opcode_info(static_cast<std::uint8_t>(raw));
        if (info == nullptr || !info->is_request) continue;
        const bool offered = raw <= 0x0c || raw == 0x13 || raw == 0x14;
        CAPTURE(raw);
        CHECK(is_supported(*info) == offered);
    }
}

}  // namespace rocem::engine
