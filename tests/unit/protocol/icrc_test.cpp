#include "protocol/icrc.hpp"

#include <catch2/catch.hpp>
#include <string_view>

#include "tests/unit/protocol/known_frames.hpp"

using namespace rocem::protocol;
using rocem::test::Bytes;
using rocem::test::known_frames;
using rocem::test::KnownFrame;
using rocem::test::to_hex;

namespace {

constexpr std::size_t l3_at = Ethernet::size;
constexpr std::size_t bth_at_ipv4 = Ipv4::size + Udp::size;

// From the network header to the byte before the ICRC.
Bytes covered(const KnownFrame& known) {
    const Bytes frame = rocem::test::build(known);
    return Bytes(frame.begin() + l3_at, frame.end() - icrc_bytes);
}

std::string on_the_wire(std::uint32_t icrc) {
    return to_hex(std::as_bytes(std::span(&icrc, 1)));  // little endian on both
}

}  // namespace

TEST_CASE("the six known ICRCs come out of the encoder", "[icrc]") {
    for (const KnownFrame& known : known_frames()) {
        INFO(known.name);
        const Bytes frame = rocem::test::build(known);
        CHECK(to_hex(std::span(frame).last(icrc_bytes)) == known.icrc);
        CHECK(icrc_is_right(std::span(frame).subspan(l3_at)));
        CHECK(on_the_wire(icrc_of_slice_by_8(covered(known))) == known.icrc);
    }
}

TEST_CASE("the seed of the ICRC is the CRC of eight bytes of ones", "[icrc]") {
    const Bytes ones(8, std::byte{0xff});
    CHECK(crc32(0, ones) == 0x2144df1c);
    CHECK(crc32_slice_by_8(0, ones) == 0x2144df1c);
}

TEST_CASE("check value of CRC-32", "[icrc]") {
    constexpr std::string_view digits = "123456789";
    const auto bytes = std::as_bytes(std::span(digits));
    CHECK(crc32(0, bytes) == 0xcbf43926);
    CHECK(crc32_slice_by_8(0, bytes) == 0xcbf43926);
}

TEST_CASE("fields that may change on the way do not change the ICRC", "[icrc]") {
    const KnownFrame ipv4 = known_frames()[0];
    // ToS, TTL, header checksum, UDP checksum, FECN/BECN byte.
    for (const std::size_t at : {std::size_t{1}, std::size_t{8}, std::size_t{10}, std::size_t{11},
                                 Ipv4::size + 6, Ipv4::size + 7, bth_at_ipv4 + 4}) {
        INFO("byte " << at);
        Bytes l3 = covered(ipv4);
        l3[at] = ~l3[at];
        CHECK(on_the_wire(icrc_of(l3)) == ipv4.icrc);
    }
    const KnownFrame ipv6 = known_frames()[1];
    for (const std::size_t at : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7},
                                 Ipv6::size + 6, Ipv6::size + 7, Ipv6::size + Udp::size + 4}) {
        INFO("IPv6 byte " << at);
        Bytes l3 = covered(ipv6);
        l3[at] = ~l3[at];
        CHECK(on_the_wire(icrc_of(l3)) == ipv6.icrc);
    }
    // The traffic class begins in the low half of byte 0; the version above it is covered.
    Bytes l3 = covered(ipv6);
    l3[0] ^= std::byte{0x0f};
    CHECK(on_the_wire(icrc_of(l3)) == ipv6.icrc);
}

TEST_CASE("MigReq and the UDP source port are covered", "[icrc]") {
    const KnownFrame known = known_frames()[0];
    Bytes l3 = covered(known);
    l3[bth_at_ipv4 + 1] ^= std::byte{0x40};
    CHECK(on_the_wire(icrc_of(l3)) == "bacb4bfc");

    l3 = covered(known);
    l3[Ipv4::size + 1] ^= std::byte{0x01};
    CHECK(on_the_wire(icrc_of(l3)) == "d1f8dabd");
}

TEST_CASE("every other bit of a frame is covered", "[icrc]") {
    for (const KnownFrame& known : known_frames()) {
        INFO(known.name);
        const Bytes original = covered(known);
        const bool is_ipv4 = (original[0] >> 4) == std::byte{4};
        const std::size_t ip = is_ipv4 ? Ipv4::size : Ipv6::size;
        const bool has_udp = is_ipv4 || original[6] == std::byte{17};
        const std::size_t bth = ip + (has_udp ? Udp::size : 0);
        for (std::size_t at = 0; at < original.size(); ++at) {
            const bool masked = at == bth + 4 || (has_udp && (at == ip + 6 || at == ip + 7)) ||
                                (is_ipv4 ? at == 1 || at == 8 || at == 10 || at == 11
                                         : at == 0 || at == 1 || at == 2 || at == 3 || at == 7);
            // Byte 0 tells IPv4 from IPv6, NxtHdr (6) tells UDP from none: flipping these moves the masks.
            if (masked || at == 0 || (!is_ipv4 && at == 6)) continue;
            Bytes l3 = original;
            l3[at] ^= std::byte{0x10};
            REQUIRE(on_the_wire(icrc_of(l3)) != known.icrc);
        }
    }
}

TEST_CASE("ISA-L and the tables agree at every length and alignment", "[icrc]") {
    std::mt19937 random(7);
    const Bytes bytes = rocem::test::random_bytes(random, 4096 + 16);
    for (std::size_t length = 0; length <= 300; ++length) {
        for (std::size_t start = 0; start < 16; ++start) {
            const auto part = std::span(bytes).subspan(start, length);
            REQUIRE(crc32(0x12345678, part) == crc32_slice_by_8(0x12345678, part));
        }
    }
    for (const std::size_t length : {511u, 512u, 513u, 1023u, 1024u, 2048u, 4095u, 4096u}) {
        for (std::size_t start = 0; start < 16; ++start) {
            const auto part = std::span(bytes).subspan(start, length);
            REQUIRE(crc32(0, part) == crc32_slice_by_8(0, part));
        }
    }
}

TEST_CASE("a CRC continues over parts", "[icrc]") {
    std::mt19937 random(8);
    const Bytes bytes = rocem::test::random_bytes(random, 333);
    const std::uint32_t whole = crc32(0, bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const auto head = std::span(bytes).first(cut);
        const auto tail = std::span(bytes).subspan(cut);
        REQUIRE(crc32(crc32(0, head), tail) == whole);
        REQUIRE(crc32_slice_by_8(crc32_slice_by_8(0, head), tail) == whole);
    }
}

TEST_CASE("seal writes the last four bytes and nothing else", "[icrc]") {
    Bytes frame = rocem::test::build(known_frames()[0]);
    const Bytes before = frame;
    for (std::size_t i = frame.size() - icrc_bytes; i < frame.size(); ++i)
        frame[i] = std::byte{0};
    CHECK_FALSE(icrc_is_right(std::span(frame).subspan(l3_at)));
    seal_icrc(frame, l3_at);
    CHECK(frame == before);
}
