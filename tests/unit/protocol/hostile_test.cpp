// Input that nobody should send: no frame may crash the parser, and none may be accepted by accident.
#include <catch2/catch.hpp>

#include "protocol/packet.hpp"
#include "protocol/print.hpp"
#include "tests/unit/protocol/frame_builder.hpp"
#include "tests/unit/protocol/known_frames.hpp"

using namespace rocem::protocol;
using namespace rocem::test;

namespace {

// Everything a NIC and a tool do with a frame. The frame lies alone in the heap, so that the sanitizers see
// a read past its end.
bool survives(std::span<const std::byte> frame, std::size_t original_bytes = 0) {
    const Bytes alone(frame.begin(), frame.end());
    Packet seen;
    const bool understood = parse_frame_into(seen, alone, original_bytes).has_value();
    if (print(seen).empty()) return false;
    const auto packet = parse_frame(alone, original_bytes);
    if (packet.has_value() != understood) return false;
    if (!packet) return true;
    const std::array<Gid, 1> gids = {destination_gid(*packet)};
    accept(*packet, {packet->ethernet.destination, gids, gids, false});
    if (!packet->is_roce() || packet->truncated) return true;
    Bytes again(alone.size());
    return re_encode(*packet, again) == alone.size() && again == alone;
}

std::vector<Bytes> seeds() {
    std::vector<Bytes> frames;
    for (const KnownFrame& known : known_frames())
        frames.push_back(build(known));
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        const OpcodeInfo* info = opcode_info(static_cast<std::uint8_t>(opcode));
        if (info != nullptr)
            frames.push_back(make_frame(info->opcode, info->payload == PayloadRule::none ? 0 : 8));
    }
    const std::string macs = "020000000002 020000000001";
    frames.push_back(from_hex(macs + "0806 0001080006040001 525400770009 0a4d0009 000000000000 0a4d0002"));
    frames.push_back(from_hex(macs + "0800 4500001c00000000 40010000 0a000001 0a000002 0800f7ff12340007"));
    frames.push_back(from_hex(macs +
                              "86dd 60000000 0020 3aff fd770000000000000000000000000001"
                              "ff0200000000000000000001ff000002"
                              "8700 0000 00000000 fd770000000000000000000000000002 0101 020000000001"));
    return frames;
}

}  // namespace

TEST_CASE("every prefix of every frame", "[hostile]") {
    for (const Bytes& frame : seeds()) {
        for (std::size_t length = 0; length <= frame.size(); ++length) {
            INFO(to_hex(frame) << " cut at " << length);
            REQUIRE(survives(std::span(frame).first(length)));
            REQUIRE(survives(std::span(frame).first(length), frame.size()));
        }
    }
}

TEST_CASE("random changes of frames", "[hostile][property]") {
    const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::vector<Bytes> frames = seeds();
    for (int i = 0; i < 20000; ++i) {
        Bytes frame = frames[random() % frames.size()];
        for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
            frame[random() % frame.size()] = static_cast<std::byte>(random());
        if (random() % 4 == 0) frame.resize(random() % (frame.size() + 20));
        INFO(to_hex(frame));
        REQUIRE(survives(frame));
    }
}

TEST_CASE("random bytes behind every EtherType", "[hostile][property]") {
    const unsigned seed = GENERATE(11u, 12u);
    INFO("seed " << seed);
    std::mt19937 random(seed);
    constexpr std::uint16_t types[] = {0x0800, 0x86dd, 0x8915, 0x0806, 0x8100, 0x88a8};
    for (int i = 0; i < 20000; ++i) {
        Bytes frame = random_bytes(random, 14 + random() % 120);
        const std::uint16_t type = types[random() % std::size(types)];
        frame[12] = static_cast<std::byte>(type >> 8);
        frame[13] = static_cast<std::byte>(type);
        INFO(to_hex(frame));
        REQUIRE(survives(frame));
    }
}

TEST_CASE("a changed bit that the ICRC covers is never accepted", "[hostile]") {
    const std::array<Gid, 1> gids = {*Gid::from_string("10.0.0.2")};
    const ReceiveContext context{*MacAddress::from_string("02:00:00:00:00:02"), gids, {}, false};
    const Bytes right = make_frame(Opcode::rc_rdma_write_only, 8);
    for (std::size_t bit = ip_at * 8; bit < right.size() * 8; ++bit) {
        const std::size_t at = bit / 8;
        const bool masked = at == ip_at + 1 || at == ip_at + 8 || at == ip_at + 10 || at == ip_at + 11 ||
                            at == udp_at + 6 || at == udp_at + 7 || at == bth_at + 4;
        if (masked) continue;
        Bytes frame = right;
        frame[at] ^= static_cast<std::byte>(1u << bit % 8);
        const auto packet = parse_frame(frame);
        INFO("byte " << at);
        REQUIRE((!packet || !accept(*packet, context).accepted));
    }
}
