// Layouts by hand from rocev2.md 5.1 and 5.2; every bit survives decode and encode.
#include <catch2/catch.hpp>

#include "protocol/aeth.hpp"
#include "protocol/atomic_eth.hpp"
#include "protocol/bth.hpp"
#include "protocol/cnp.hpp"
#include "protocol/deth.hpp"
#include "protocol/feth.hpp"
#include "protocol/ieth.hpp"
#include "protocol/immdt.hpp"
#include "protocol/reth.hpp"
#include "protocol/xrceth.hpp"
#include "tests/unit/protocol/bytes.hpp"

using namespace rocem::protocol;
using rocem::test::decode_encode;
using rocem::test::from_hex;
using rocem::test::Guarded;

namespace {

template <class Header>
Header decode(std::string_view hex) {
    const auto bytes = from_hex(hex);
    REQUIRE(bytes.size() == Header::size);
    return Header::decode(std::span(bytes).template first<Header::size>());
}

template <class Header>
std::string encode(const Header& header) {
    Guarded<Header::size> out;
    header.encode(out.span());
    CHECK(out.guard_is_untouched());
    return out.hex();
}

}  // namespace

TEST_CASE("BTH: every field at its place", "[bth]") {
    Bth bth;
    bth.opcode = 0x0a;
    bth.solicited_event = true;
    bth.pad_count = 3;
    bth.p_key = PKey(0x1234);
    bth.dest_qp = Qpn(0xabcdef);
    bth.ack_request = true;
    bth.psn = Psn(0xfffffe);
    CHECK(encode(bth) == "0ab0123400abcdef80fffffe");
    CHECK(decode<Bth>("0ab0123400abcdef80fffffe") == bth);
}

TEST_CASE("BTH: each bit of the flag bytes is one field", "[bth]") {
    CHECK(decode<Bth>("00 80 0000 00000000 00000000").solicited_event);
    CHECK(decode<Bth>("00 40 0000 00000000 00000000").mig_req);
    CHECK(decode<Bth>("00 30 0000 00000000 00000000").pad_count == 3);
    CHECK(decode<Bth>("00 0f 0000 00000000 00000000").t_ver == 15);
    CHECK(decode<Bth>("00 00 0000 80000000 00000000").fecn);
    CHECK(decode<Bth>("00 00 0000 40000000 00000000").becn);
    CHECK(decode<Bth>("00 00 0000 3f000000 00000000").resv6 == 0x3f);
    CHECK(decode<Bth>("00 00 0000 00000000 80000000").ack_request);
    CHECK(decode<Bth>("00 00 0000 00000000 7f000000").resv7 == 0x7f);
}

TEST_CASE("BTH: the largest value of every field", "[bth]") {
    CHECK(decode_encode<Bth>("ffffffffffffffffffffffff") == "ffffffffffffffffffffffff");
    const Bth bth = decode<Bth>("ffffffffffffffffffffffff");
    CHECK(bth.dest_qp == multicast_qpn);
    CHECK(bth.psn == Psn(0xffffff));
}

TEST_CASE("BTH: a value that is too wide stays inside its field", "[bth]") {
    Bth bth;
    bth.pad_count = 0xff;
    bth.t_ver = 0xf0;
    bth.resv6 = 0xc0;
    bth.resv7 = 0x80;
    bth.p_key = PKey(0);
    CHECK(encode(bth) == "003000000000000000000000");
}

TEST_CASE("RETH", "[reth]") {
    CHECK(encode(Reth{0x0123456789abcdef, RKey(0xdeadbeef), 0x80000000}) ==
          "0123456789abcdefdeadbeef80000000");
    const Reth reth = decode<Reth>("00007fee260fb000 000002b8 00010000");
    CHECK(reth == Reth{0x7fee260fb000, RKey(0x2b8), 65536});
}

TEST_CASE("AETH", "[aeth]") {
    CHECK(encode(Aeth{0x62, Msn(0xabcdef)}) == "62abcdef");
    CHECK(decode<Aeth>("1f000005") == Aeth{0x1f, Msn(5)});
}

TEST_CASE("AtomicETH: swap or add first, compare second", "[atomic_eth]") {
    CHECK(encode(AtomicEth{0x1000, RKey(0x22), 0x3333333333333333, 0x4444444444444444}) ==
          "0000000000001000"
          "00000022"
          "3333333333333333"
          "4444444444444444");
    const AtomicEth eth = decode<AtomicEth>("0000000000001000 00000022 0000000000000007 0000000000000009");
    CHECK(eth == AtomicEth{0x1000, RKey(0x22), 7, 9});
}

TEST_CASE("AtomicAckETH", "[atomic_eth]") {
    CHECK(encode(AtomicAckEth{0x1122334455667788}) == "1122334455667788");
    CHECK(decode<AtomicAckEth>("0000000000000029").original == 41);
}

TEST_CASE("DETH", "[deth]") {
    CHECK(encode(Deth{QKey(0x80010000), 0, Qpn(1)}) == "8001000000000001");
    CHECK(decode<Deth>("11111111 5a abcdef") == Deth{QKey(0x11111111), 0x5a, Qpn(0xabcdef)});
}

TEST_CASE("ImmDt, IETH, XRCETH", "[immdt]") {
    CHECK(encode(ImmDt{0xcafe0001}) == "cafe0001");
    CHECK(decode<ImmDt>("01020304").value == 0x01020304);
    CHECK(encode(Ieth{RKey(0xff01)}) == "0000ff01");
    CHECK(decode<Ieth>("80000000").r_key == RKey(0x80000000));
    CHECK(encode(XrcEth{0x5a, Qpn(0x123456)}) == "5a123456");
    CHECK(decode<XrcEth>("00ffffff").srqn == Qpn(0xffffff));
}

TEST_CASE("FETH: placement in bits 3:0, selectivity in bits 5:4", "[feth]") {
    CHECK(encode(Feth{0, 2, 1}) == "00000012");
    const Feth feth = decode<Feth>("ffffffff");
    CHECK(feth.placement_type == 15);
    CHECK(feth.selectivity == 3);
    CHECK(feth.resv == 0xffffffc0);
    CHECK(encode(feth) == "ffffffff");
}

TEST_CASE("CNP: sixteen reserved bytes", "[cnp]") {
    CHECK(encode(Cnp{}) == std::string(32, '0'));
    CHECK(decode_encode<Cnp>("000102030405060708090a0b0c0d0e0f") == "000102030405060708090a0b0c0d0e0f");
}

TEMPLATE_TEST_CASE("any bytes come back from decode and encode", "[property]", Bth, Reth, Aeth, AtomicEth,
                   AtomicAckEth, Deth, ImmDt, Ieth, XrcEth, Feth, Cnp) {
    const unsigned seed = GENERATE(1u, 2u, 3u);
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 300; ++i) {
        const std::string hex = rocem::test::to_hex(rocem::test::random_bytes(random, TestType::size));
        REQUIRE(decode_encode<TestType>(hex) == hex);
    }
}
