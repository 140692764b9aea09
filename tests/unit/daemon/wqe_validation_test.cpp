#include "daemon/wqe_validation.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <optional>

#include "ipc/layout.hpp"

using namespace rocem::daemon;
using rocem::engine::QpCapabilities;
using rocem::engine::WrOpcode;
using rocem::ipc::RecvWqe;
using rocem::ipc::SendWqe;
using rocem::ipc::Sge;

namespace {

constexpr QpCapabilities caps{
    .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 3, .max_recv_sge = 2, .max_inline_data = 20};

// A slot of the queue that caps describe, filled with bytes that mean nothing.
struct Slot {
    Slot() { std::memset(bytes, 0xA5, sizeof(bytes)); }

    void put(const SendWqe& wqe, std::initializer_list<Sge> sges = {}) {
        std::memcpy(bytes, &wqe, sizeof(wqe));
        if (sges.size() > 0) std::memcpy(bytes + sizeof(wqe), sges.begin(), sges.size() * sizeof(Sge));
    }
    void put(const RecvWqe& wqe, std::initializer_list<Sge> sges = {}) {
        std::memcpy(bytes, &wqe, sizeof(wqe));
        if (sges.size() > 0) std::memcpy(bytes + sizeof(wqe), sges.begin(), sges.size() * sizeof(Sge));
    }

    alignas(64) std::byte bytes[1024];
};

SendWqe write_wqe() {
    SendWqe wqe{};
    wqe.wr_id = 77;
    wqe.opcode = 0;
    wqe.remote_addr = 0x1000;
    wqe.rkey = 0x1234;
    wqe.num_sge = 1;
    return wqe;
}

std::optional<WqeViolation> judged(const SendWqe& wqe) {
    Slot slot;
    slot.put(wqe);
    WqeScratch scratch;
    const auto wr = read_send_wqe(slot.bytes, 0, caps, scratch);
    if (wr) return std::nullopt;
    return wr.error();
}

}  // namespace

TEST_CASE("a send request is copied field by field") {
    Slot slot;
    SendWqe wqe{};
    wqe.wr_id = 0x0102030405060708;
    wqe.remote_addr = 0x1112131415161718;
    wqe.compare_add = 0x2122232425262728;
    wqe.swap = 0x3132333435363738;
    wqe.rkey = 0x41424344;
    wqe.immediate = 0x51525354;
    wqe.num_sge = 3;
    wqe.opcode = 5;
    wqe.flags = ROCEM_ABI_SEND_FENCE | ROCEM_ABI_SEND_SIGNALED | ROCEM_ABI_SEND_SOLICITED;
    slot.put(wqe, {{1, 2, 3}, {4, 5, 6}, {UINT64_MAX, UINT32_MAX, UINT32_MAX}});
    WqeScratch scratch;
    const auto wr = read_send_wqe(slot.bytes, 0xfffffff0, caps, scratch);
    REQUIRE(wr);
    CHECK(wr->wr_id == 0x0102030405060708);
    CHECK(wr->wqe_index == 0xfffffff0);
    CHECK(wr->opcode == WrOpcode::compare_swap);
    CHECK(wr->fence);
    CHECK(wr->signaled);
    CHECK(wr->solicited);
    CHECK_FALSE(wr->inline_data);
    CHECK(wr->immediate == 0x51525354);
    CHECK(wr->remote_addr == 0x1112131415161718);
    CHECK(wr->r_key.value() == 0x41424344);
    CHECK(wr->compare_add == 0x2122232425262728);
    CHECK(wr->swap == 0x3132333435363738);
    REQUIRE(wr->sges.size() == 3);
    CHECK(wr->sges[1].addr == 4);
    CHECK(wr->sges[1].length == 5);
    CHECK(wr->sges[1].l_key.value() == 6);
    CHECK(wr->sges[2].addr == UINT64_MAX);
}

TEST_CASE("inline bytes are copied out of the slot, also a length that is no multiple of eight") {
    Slot slot;
    SendWqe wqe{};
    wqe.opcode = 2;
    wqe.flags = ROCEM_ABI_SEND_INLINE;
    wqe.inline_length = 13;
    slot.put(wqe);
    for (int i = 0; i < 13; ++i)
        slot.bytes[sizeof(SendWqe) + i] = static_cast<std::byte>(i);
    WqeScratch scratch;
    const auto wr = read_send_wqe(slot.bytes, 0, caps, scratch);
    REQUIRE(wr);
    REQUIRE(wr->inline_bytes.size() == 13);
    std::memset(slot.bytes, 0, sizeof(slot.bytes));  // the client changes its mind: too late
    for (int i = 0; i < 13; ++i)
        CHECK(wr->inline_bytes[i] == static_cast<std::byte>(i));
}

TEST_CASE("every opcode beyond the known seven is a violation") {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        SendWqe wqe = write_wqe();
        wqe.opcode = static_cast<std::uint8_t>(opcode);
        CAPTURE(opcode);
        if (opcode <= 6) {
            CHECK_FALSE(judged(wqe));
        } else {
            CHECK(judged(wqe) == WqeViolation::unknown_opcode);
        }
    }
}

TEST_CASE("every flag beyond the known four is a violation") {
    for (unsigned flags = 0; flags < 256; ++flags) {
        SendWqe wqe = write_wqe();
        wqe.flags = static_cast<std::uint8_t>(flags);
        if ((flags & ROCEM_ABI_SEND_INLINE) != 0) wqe.num_sge = 0;
        CAPTURE(flags);
        if (flags < 16) {
            CHECK_FALSE(judged(wqe));
        } else {
            CHECK(judged(wqe) == WqeViolation::unknown_flags);
        }
    }
}

TEST_CASE("every number of SGEs above the queue's is a violation") {
    for (unsigned num_sge = 0; num_sge <= UINT16_MAX; ++num_sge) {
        SendWqe wqe = write_wqe();
        wqe.num_sge = static_cast<std::uint16_t>(num_sge);
        const auto violation = judged(wqe);
        if (num_sge <= 3 ? violation.has_value() : violation != WqeViolation::too_many_sges) FAIL(num_sge);
    }
}

TEST_CASE("inline data has rules of its own") {
    SendWqe wqe{};
    wqe.opcode = 2;
    wqe.flags = ROCEM_ABI_SEND_INLINE;
    SECTION("up to the limit") {
        wqe.inline_length = 20;
        CHECK_FALSE(judged(wqe));
    }
    SECTION("none at all") {
        CHECK_FALSE(judged(wqe));
    }
    SECTION("one byte more") {
        wqe.inline_length = 21;
        CHECK(judged(wqe) == WqeViolation::inline_too_long);
    }
    SECTION("a length that wraps") {
        wqe.inline_length = UINT32_MAX;
        CHECK(judged(wqe) == WqeViolation::inline_too_long);
    }
    SECTION("with SGEs") {
        wqe.num_sge = 1;
        CHECK(judged(wqe) == WqeViolation::inline_with_sges);
    }
    SECTION("on READ and atomics") {
        for (const unsigned opcode : {4u, 5u, 6u}) {
            wqe.opcode = static_cast<std::uint8_t>(opcode);
            CHECK(judged(wqe) == WqeViolation::inline_not_allowed);
        }
    }
    SECTION("a length without the flag") {
        wqe.flags = 0;
        wqe.inline_length = 1;
        CHECK(judged(wqe) == WqeViolation::length_without_inline);
    }
}

TEST_CASE("capabilities above what the scratch space holds do not overrun it") {
    constexpr QpCapabilities large{.max_send_wr = 1,
                                   .max_recv_wr = 1,
                                   .max_send_sge = 1000,
                                   .max_recv_sge = 1000,
                                   .max_inline_data = 4096};
    Slot slot;
    WqeScratch scratch;
    SendWqe wqe = write_wqe();
    wqe.num_sge = wqe_sges_max + 1;
    slot.put(wqe);
    CHECK(read_send_wqe(slot.bytes, 0, large, scratch).error() == WqeViolation::too_many_sges);
    wqe.num_sge = 0;
    wqe.flags = ROCEM_ABI_SEND_INLINE;
    wqe.inline_length = wqe_inline_bytes_max + 1;
    slot.put(wqe);
    CHECK(read_send_wqe(slot.bytes, 0, large, scratch).error() == WqeViolation::inline_too_long);
}

TEST_CASE("reserved fields are zero") {
    for (int field = 0; field < 2; ++field) {
        SendWqe wqe = write_wqe();
        wqe.reserved[field] = 1;
        CHECK(judged(wqe) == WqeViolation::reserved_not_zero);
    }
    Slot slot;
    WqeScratch scratch;
    RecvWqe recv{};
    recv.reserved = 1;
    slot.put(recv);
    CHECK(read_recv_wqe(slot.bytes, 0, caps, scratch).error() == WqeViolation::reserved_not_zero);
}

TEST_CASE("a receive request is copied, and too many SGEs are a violation") {
    Slot slot;
    WqeScratch scratch;
    RecvWqe wqe{};
    wqe.wr_id = 9;
    wqe.num_sge = 2;
    slot.put(wqe, {{1, 2, 3}, {4, 5, 6}});
    const auto wr = read_recv_wqe(slot.bytes, 41, caps, scratch);
    REQUIRE(wr);
    CHECK(wr->wr_id == 9);
    CHECK(wr->wqe_index == 41);
    REQUIRE(wr->sges.size() == 2);
    CHECK(wr->sges[1].l_key.value() == 6);
    for (const std::uint32_t num_sge : {3u, 33u, UINT32_MAX}) {
        wqe.num_sge = num_sge;
        slot.put(wqe);
        CHECK(read_recv_wqe(slot.bytes, 0, caps, scratch).error() == WqeViolation::too_many_sges);
    }
}

TEST_CASE("every violation has a name and a sentence") {
    for (int i = 0; i < 8; ++i) {
        CHECK_FALSE(name(static_cast<WqeViolation>(i)).empty());
        CHECK(sentence(static_cast<WqeViolation>(i)).find(' ') != std::string_view::npos);
    }
}
