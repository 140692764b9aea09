#include <catch2/catch.hpp>

#include "protocol/packet.hpp"
#include "tests/unit/protocol/frame_builder.hpp"
#include "tests/unit/protocol/known_frames.hpp"

using namespace rocem::protocol;
using namespace rocem::test;

namespace {

void set16(Bytes& frame, std::size_t at, unsigned value) {
    frame[at] = static_cast<std::byte>(value >> 8);
    frame[at + 1] = static_cast<std::byte>(value);
}

DropReason refusal(const Bytes& frame) {
    const auto parsed = parse_frame(frame);
    REQUIRE_FALSE(parsed);
    return parsed.error();
}

Bytes re_encoded(const Packet& packet) {
    Bytes out(packet.frame.size() + 16, std::byte{0xa5});
    const std::size_t length = re_encode(packet, out);
    CHECK(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(length), out.end(),
                      [](std::byte byte) { return byte == std::byte{0xa5}; }));
    out.resize(length);
    return out;
}

// The tags in front of the EtherType of a frame.
Bytes with_tags(const Bytes& frame, std::string_view tags) {
    Bytes tagged = frame;
    const Bytes inserted = from_hex(tags);
    tagged.insert(tagged.begin() + 12, inserted.begin(), inserted.end());
    return tagged;
}

}  // namespace

TEST_CASE("known frames come back as the fields they were built from", "[parse]") {
    for (const KnownFrame& known : known_frames()) {
        INFO(known.name);
        const Bytes frame = build(known);
        const auto packet = parse_frame(frame);
        REQUIRE(packet);
        CHECK(packet->kind == (known.path.roce_v1 ? FrameKind::roce_v1 : FrameKind::roce_v2));
        CHECK(packet->roce.info == known.roce.info);
        CHECK(packet->roce.bth == known.roce.bth);
        CHECK(packet->roce.reth == known.roce.reth);
        CHECK(packet->roce.aeth == known.roce.aeth);
        CHECK(to_hex(packet->roce.payload) == to_hex(known.payload));
        CHECK(packet->pad.size() == known.roce.bth.pad_count);
        CHECK(packet->icrc_present);
        CHECK(to_hex(packet->icrc) == known.icrc);
        CHECK(packet->trailer.empty());
        CHECK(source_gid(*packet) == known.path.source_gid);
        CHECK(destination_gid(*packet) == known.path.destination_gid);
        CHECK(traffic_class(*packet) == known.path.traffic_class);
        CHECK(wire_payload_bytes(*packet) == known.payload.size());
        CHECK(to_hex(re_encoded(*packet)) == to_hex(frame));
    }
}

TEST_CASE("VLAN tags and an Ethernet trailer are kept, and are not covered by the ICRC", "[parse]") {
    const auto [tags, count] = GENERATE(table<const char*, unsigned>(
        {{"", 0}, {"8100 0064", 1}, {"88a8 7001 8100 f064", 2}, {"8100 0001 8100 0064", 2}}));
    const std::size_t trailer = GENERATE(std::size_t{0}, std::size_t{6}, std::size_t{29});
    for (const KnownFrame& known : known_frames()) {
        Bytes frame = with_tags(build(known), tags);
        frame.resize(frame.size() + trailer, std::byte{0x3c});
        const auto packet = parse_frame(frame);
        REQUIRE(packet);
        CHECK(packet->is_roce());
        CHECK(packet->vlan_count == count);
        if (count != 0) CHECK(packet->vlans[count - 1].vid == 100);
        CHECK(packet->trailer.size() == trailer);
        CHECK(icrc_is_right(packet->l3));
        CHECK(to_hex(re_encoded(*packet)) == to_hex(frame));
    }
}

TEST_CASE("frames that are not RoCE are told apart", "[parse]") {
    const std::string macs = "020000000002 020000000001";
    const auto [rest, kind] = GENERATE(table<const char*, FrameKind>({
        {"0806 0001080006040001", FrameKind::arp},
        {"0800 4500001c00000000 40010000 0a000001 0a000002 0800f7ff12340007", FrameKind::icmp},
        {"86dd 60000000 0008 3aff 00000000000000000000000000000001 00000000000000000000000000000002"
         "8000000012340007",
         FrameKind::icmpv6},
        {"0800 4500001c00000000 40110000 0a000001 0a000002 1234003500080000", FrameKind::other},  // DNS
        {"0800 4500001400000000 40060000 0a000001 0a000002", FrameKind::other},
        {"8915 60000000 0000 1140 00000000000000000000000000000001 00000000000000000000000000000002",
         FrameKind::other},
        {"88cc 0207", FrameKind::other},
        {"8100 0001 8100 0002 8100 0003 0800", FrameKind::other},  // three tags
    }));
    INFO(rest);
    const Bytes frame = from_hex(macs + rest);
    const auto packet = parse_frame(frame);
    REQUIRE(packet);
    CHECK(packet->kind == kind);
    CHECK_FALSE(packet->is_roce());
}

TEST_CASE("the body of a frame that is not RoCE", "[parse]") {
    const Bytes frame = from_hex(
        "020000000002 020000000001 0800 4500001c00000000 40010000 0a000001 0a000002 0800f7ff12340007 5555");
    const auto packet = parse_frame(frame);
    REQUIRE(packet);
    CHECK(to_hex(packet->body) == "0800f7ff12340007");
    CHECK(to_hex(packet->trailer) == "5555");
}

TEST_CASE("what cannot be taken apart is refused by name", "[parse]") {
    Bytes frame = make_frame(Opcode::rc_rdma_write_only, 8);

    SECTION("every frame that ends inside its headers") {
        for (std::size_t length = 0; length < 34; ++length) {
            const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
            CHECK(refusal(cut) == DropReason::truncated_frame);
        }
    }
    SECTION("IP version") {
        frame[ip_at] = std::byte{0x65};
        CHECK(refusal(frame) == DropReason::bad_ip_version);
    }
    SECTION("IP length beyond the frame") {
        set16(frame, ip_at + 2, static_cast<unsigned>(frame.size() - ip_at + 1));
        CHECK(refusal(frame) == DropReason::ip_length_mismatch);
    }
    SECTION("IP length shorter than its header, or without room for UDP") {
        const auto length = GENERATE(0u, 19u, 20u, 27u);
        set16(frame, ip_at + 2, length);
        CHECK(refusal(frame) == DropReason::ip_length_mismatch);
    }
    SECTION("IP options") {
        frame[ip_at] = std::byte{0x46};
        set16(frame, ip_at + 24 + 2, 4791);
        CHECK(refusal(frame) == DropReason::ipv4_options);
    }
    SECTION("a later fragment") {
        set16(frame, ip_at + 6, 1);
        CHECK(refusal(frame) == DropReason::ip_fragment);
    }
    SECTION("no room for a base transport header and an ICRC") {
        frame.resize(bth_at + 15);
        set16(frame, ip_at + 2, 20 + 8 + 15);
        set16(frame, udp_at + 4, 8 + 15);
        CHECK(refusal(frame) == DropReason::runt_transport);
    }
    SECTION("reserved opcodes") {
        const auto opcode = GENERATE(0x15u, 0x1eu, 0x2cu, 0x40u, 0x60u, 0x80u, 0xb5u, 0xffu);
        frame[bth_at] = static_cast<std::byte>(opcode);
        CHECK(refusal(frame) == DropReason::unknown_opcode);
    }
    SECTION("no room for the extended headers") {
        frame.resize(bth_at + 12 + 15 + 4);
        set16(frame, ip_at + 2, 20 + 8 + 31);
        set16(frame, udp_at + 4, 8 + 31);
        CHECK(refusal(frame) == DropReason::short_headers);
    }
    SECTION("a pad of 3 with 2 bytes") {
        frame.resize(bth_at + 12 + 16 + 2 + 4);
        set16(frame, ip_at + 2, 20 + 8 + 34);
        set16(frame, udp_at + 4, 8 + 34);
        frame[bth_at + 1] = std::byte{0x30};
        CHECK(refusal(frame) == DropReason::pad_count);
    }
}

TEST_CASE("a refused frame shows as much as was understood", "[parse]") {
    Bytes frame = make_frame(Opcode::rc_rdma_write_only, 8);
    Packet packet;

    SECTION("the port says RoCE v2 although the IP length is wrong") {
        set16(frame, ip_at + 2, 1);
        CHECK(parse_frame_into(packet, frame).error() == DropReason::ip_length_mismatch);
        CHECK(packet.kind == FrameKind::roce_v2);
        CHECK(packet.transport_bytes_parsed == 0);
    }
    SECTION("the base transport header of a reserved opcode") {
        frame[bth_at] = std::byte{0xff};
        CHECK(parse_frame_into(packet, frame).error() == DropReason::unknown_opcode);
        CHECK(packet.kind == FrameKind::roce_v2);
        CHECK(packet.transport_bytes_parsed == Bth::size);
        CHECK(packet.roce.info == nullptr);
        CHECK(packet.roce.bth.dest_qp == Qpn(0x11));
    }
}

TEST_CASE("a capture that was cut is parsed as far as it goes", "[parse]") {
    const Bytes frame = make_frame(Opcode::rc_rdma_write_only, 10);
    for (std::size_t length = bth_at + Bth::size; length < frame.size(); ++length) {
        INFO(length);
        const auto packet = parse_frame(std::span(frame).first(length), frame.size());
        REQUIRE(packet);
        CHECK(packet->truncated);
        CHECK_FALSE(packet->icrc_present);
        const bool whole_reth = length >= bth_at + Bth::size + Reth::size;
        CHECK(packet->transport_bytes_parsed == (whole_reth ? 28 : 12));
        if (whole_reth) CHECK(packet->roce.reth.va == 0x1000);
        const std::size_t behind = length - std::min(length, bth_at + 28);
        CHECK(packet->roce.payload.size() == std::min<std::size_t>(behind, 10));
        CHECK(wire_payload_bytes(*packet) == 10);
    }
    // Cut inside the BTH, the kind is still known.
    Packet packet;
    CHECK(parse_frame_into(packet, std::span(frame).first(bth_at + 3), frame.size()).error() ==
          DropReason::truncated_frame);
    CHECK(packet.kind == FrameKind::roce_v2);
    // A capture without the trailer is whole.
    const auto padded = parse_frame(frame, frame.size() + 10);
    REQUIRE(padded);
    CHECK_FALSE(padded->truncated);
    CHECK(padded->icrc_present);
}

TEST_CASE("wrong checksums, versions, lengths and pads are kept", "[parse]") {
    Bytes frame = make_frame(Opcode::rc_send_middle, 8);
    const auto [at, value] = GENERATE(table<std::size_t, unsigned>({{ip_at + 10, 0xff},
                                                                    {ip_at + 6, 0xe0},
                                                                    {udp_at + 5, 0xff},
                                                                    {udp_at + 6, 0x12},
                                                                    {bth_at + 1, 0xff},
                                                                    {bth_at + 4, 0xff},
                                                                    {bth_at + 8, 0xff},
                                                                    {bth_at + 12, 0xff}}));
    frame[at] = static_cast<std::byte>(value);
    const auto packet = parse_frame(frame);
    REQUIRE(packet);
    CHECK(to_hex(re_encoded(*packet)) == to_hex(frame));
}
