#include "protocol/syndrome.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>

using namespace rocem::protocol;
using namespace std::chrono_literals;

TEST_CASE("syndromes as bytes", "[syndrome]") {
    CHECK(Syndrome::ack().raw() == 0x1f);
    CHECK(Syndrome::ack(0).raw() == 0x00);
    CHECK(Syndrome::rnr_nak(12).raw() == 0x2c);
    CHECK(Syndrome::nak(NakCode::psn_sequence_error).raw() == 0x60);
    CHECK(Syndrome::nak(NakCode::invalid_request).raw() == 0x61);
    CHECK(Syndrome::nak(NakCode::remote_access_error).raw() == 0x62);
    CHECK(Syndrome::nak(NakCode::remote_operational_error).raw() == 0x63);
    CHECK(Syndrome::nak(NakCode::invalid_rd_request).raw() == 0x64);
}

TEST_CASE("every byte is of one kind", "[syndrome]") {
    for (unsigned raw = 0; raw < 256; ++raw) {
        INFO(raw);
        const Syndrome syndrome(static_cast<std::uint8_t>(raw));
        const Syndrome::Kind kinds[] = {Syndrome::Kind::ack,      Syndrome::Kind::rnr_nak,
                                        Syndrome::Kind::reserved, Syndrome::Kind::nak,
                                        Syndrome::Kind::reserved, Syndrome::Kind::reserved,
                                        Syndrome::Kind::reserved, Syndrome::Kind::reserved};
        CHECK(syndrome.kind() == kinds[raw >> 5]);
        CHECK(syndrome.code() == (raw & 31));
        CHECK(syndrome.raw() == raw);
        CHECK(syndrome.nak_code().has_value() == (raw >= 0x60 && raw <= 0x64));
    }
}

TEST_CASE("credit codes", "[syndrome]") {
    constexpr std::array<std::uint32_t, 31> credits = {
        0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
        256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
    for (std::uint8_t code = 0; code < credits.size(); ++code) {
        INFO(int{code});
        CHECK(credits_of_code(code) == credits[code]);
        CHECK(credit_code_for(credits[code]) == code);
    }
    CHECK_FALSE(credits_of_code(0x1f));
    // Between two codes the lower one: never grant more than there is.
    CHECK(credit_code_for(5) == 4);
    CHECK(credit_code_for(7) == 5);
    CHECK(credit_code_for(9) == 6);
    CHECK(credit_code_for(32767) == 0x1d);
    CHECK(credit_code_for(0xffffffff) == 0x1e);
}

TEST_CASE("RNR timer codes", "[syndrome]") {
    constexpr std::array<double, 32> milliseconds = {
        655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,
        0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36,
        20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
    for (std::uint8_t code = 0; code < 32; ++code) {
        INFO(int{code});
        CHECK(static_cast<double>(rnr_timer(code).count()) == Approx(milliseconds[code] * 1e6).epsilon(1e-9));
    }
    CHECK(rnr_timer(12) == 640us);
    CHECK(rnr_timer(25) == 61'440us);
    CHECK(rnr_timer(0x20 | 1) == 10us);  // the bits above are not of the code
}
