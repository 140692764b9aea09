// One test per reason for which accept refuses a packet, in the order of rocev2.md 5.7.
#include <array>
#include <catch2/catch.hpp>

#include "protocol/packet.hpp"
#include "tests/unit/protocol/frame_builder.hpp"

using namespace rocem::protocol;
using namespace rocem::test;

namespace {

const std::array<Gid, 3> gid_table = {Gid::from_string("fe80::1").value(), Gid{},
                                      Gid::from_string("10.0.0.2").value()};
const std::array<Gid, 2> groups = {Gid::from_string("239.129.2.3").value(),
                                   Gid::from_string("ff0e::1234:5678").value()};

ReceiveContext context() {
    return {*MacAddress::from_string("02:00:00:00:00:02"), gid_table, groups, false};
}

Verdict judge(const Bytes& frame, const ReceiveContext& receive = context()) {
    const auto packet = parse_frame(frame);
    REQUIRE(packet);
    return accept(*packet, receive);
}

void check_refused(const Bytes& frame, DropReason reason) {
    const Verdict verdict = judge(frame);
    CHECK_FALSE(verdict.accepted);
    CHECK(drop_reason_name(verdict.reason) == drop_reason_name(reason));
}

}  // namespace

TEST_CASE("a right packet is accepted", "[accept]") {
    const auto payload_bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{4096});
    CHECK(judge(make_frame(Opcode::rc_rdma_write_only, payload_bytes)).accepted);
}

TEST_CASE("reserved bits, congestion bits, MigReq and any UDP source port are accepted", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    const auto [at, value] = GENERATE(table<std::size_t, unsigned>({{bth_at + 1, 0xc0},
                                                                    {bth_at + 4, 0xff},
                                                                    {bth_at + 8, 0xff},
                                                                    {udp_at, 0x00},
                                                                    {ip_at + 1, 0x03},
                                                                    {ip_at + 6, 0x00},
                                                                    {ip_at + 8, 0x01}}));
    frame[at] = static_cast<std::byte>(value);
    mend(frame);
    CHECK(judge(frame).accepted);
}

TEST_CASE("destination_mac: neither ours nor a joined group's", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[5] = std::byte{0x03};
    check_refused(frame, DropReason::destination_mac);
    // The group's MAC address does not carry a unicast packet in.
    const Bytes group_mac = from_hex("01005e010203");
    std::copy(group_mac.begin(), group_mac.end(), frame.begin());
    check_refused(frame, DropReason::destination_mac);
    std::fill_n(frame.begin(), 6, std::byte{0xff});
    check_refused(frame, DropReason::destination_mac);
}

TEST_CASE("packets to joined groups are accepted", "[accept]") {
    PathHeaders path = test_path();
    const auto [gid, mac] = GENERATE(table<const char*, const char*>(
        {{"239.129.2.3", "01:00:5e:01:02:03"}, {"ff0e::1234:5678", "33:33:12:34:56:78"}}));
    path.destination_gid = *Gid::from_string(gid);
    if (!path.destination_gid.is_ipv4_mapped()) path.source_gid = *Gid::from_string("fe80::9");
    path.destination_mac = multicast_mac(path.destination_gid);
    CHECK(path.destination_mac.to_string() == mac);
    CHECK(judge(make_frame(Opcode::ud_send_only, 8, path)).accepted);
    ReceiveContext no_groups = context();
    no_groups.multicast_groups = {};
    CHECK(judge(make_frame(Opcode::ud_send_only, 8, path), no_groups).reason == DropReason::destination_mac);
}

TEST_CASE("ipv4_header_checksum", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[ip_at + 10] ^= std::byte{0x01};
    check_refused(frame, DropReason::ipv4_header_checksum);
}

TEST_CASE("ip_fragment: more fragments follow", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[ip_at + 6] |= std::byte{0x20};
    mend(frame);
    check_refused(frame, DropReason::ip_fragment);
}

TEST_CASE("truncated_frame: a capture that was cut", "[accept]") {
    const Bytes frame = make_frame(Opcode::rc_send_only, 8);
    const auto packet = parse_frame(std::span(frame).first(frame.size() - 1), frame.size());
    REQUIRE(packet);
    CHECK(accept(*packet, context()).reason == DropReason::truncated_frame);
}

TEST_CASE("udp_length_mismatch", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[udp_at + 5] ^= std::byte{0x04};
    mend(frame);
    check_refused(frame, DropReason::udp_length_mismatch);
}

TEST_CASE("udp_checksum: any value but 0 is verified, unless a setting ignores it", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 9);
    const auto udp = std::span(frame).subspan(udp_at);
    const std::uint32_t pseudo =
        pseudo_header_sum(*Ipv4Address::from_string("10.0.0.1"), *Ipv4Address::from_string("10.0.0.2"), 17,
                          static_cast<std::uint32_t>(udp.size()));
    const std::uint16_t checksum = checksum_finish(checksum_add(pseudo, udp));
    udp[6] = static_cast<std::byte>(checksum >> 8);
    udp[7] = static_cast<std::byte>(checksum);
    CHECK(judge(frame).accepted);
    udp[7] ^= std::byte{0x01};
    check_refused(frame, DropReason::udp_checksum);
    ReceiveContext lenient = context();
    lenient.ignore_udp_checksum = true;
    CHECK(judge(frame, lenient).accepted);
}

TEST_CASE("transport_version", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[bth_at + 1] |= std::byte{0x01};
    mend(frame);
    check_refused(frame, DropReason::transport_version);
}

TEST_CASE("pad_count: only what ends a message is padded, to a multiple of four", "[accept]") {
    // Bytes between headers and ICRC, and how many of them the BTH says are pad.
    const auto [opcode, bytes, pad] = GENERATE(table<Opcode, std::size_t, unsigned>({
        {Opcode::rc_send_first, 1024, 1},
        {Opcode::rc_send_middle, 1024, 2},
        {Opcode::rc_rdma_read_response_middle, 1024, 3},
        {Opcode::rc_send_only, 6, 1},
        {Opcode::rc_send_last, 3, 3},
    }));
    check_refused(make_padded_frame(opcode, bytes - pad, pad), DropReason::pad_count);
}

TEST_CASE("payload_too_long: beyond the largest path MTU", "[accept]") {
    check_refused(make_frame(Opcode::rc_send_only, 4097), DropReason::payload_too_long);
}

TEST_CASE("zero_destination_qp", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[bth_at + 7] = std::byte{0};
    mend(frame);
    check_refused(frame, DropReason::zero_destination_qp);
}

TEST_CASE("multicast_service: QP 0xffffff is for datagrams", "[accept]") {
    const auto opcode = GENERATE(Opcode::rc_send_only, Opcode::uc_send_only, Opcode::cnp);
    Bytes frame = make_frame(opcode, 0);
    std::fill_n(frame.begin() + bth_at + 5, 3, std::byte{0xff});
    mend(frame);
    check_refused(frame, DropReason::multicast_service);
}

TEST_CASE("destination_gid: not in the GID table", "[accept]") {
    PathHeaders path = test_path();
    path.destination_gid = *Gid::from_string("10.0.0.3");
    check_refused(make_frame(Opcode::rc_send_only, 8, path), DropReason::destination_gid);
    // An empty entry of the table matches nothing, the all-zero address included.
    path.source_gid = *Gid::from_string("fe80::9");
    path.destination_gid = Gid{};
    check_refused(make_frame(Opcode::rc_send_only, 8, path), DropReason::destination_gid);
}

TEST_CASE("icrc_mismatch: one wrong bit anywhere behind the headers", "[accept]") {
    const Bytes right = make_frame(Opcode::rc_rdma_write_only, 6);
    for (std::size_t at = bth_at + 12; at < right.size(); ++at) {
        Bytes frame = right;
        frame[at] ^= std::byte{0x80};
        check_refused(frame, DropReason::icrc_mismatch);
    }
}

TEST_CASE("not_roce: what is no RoCE has nothing to accept", "[accept]") {
    check_refused(from_hex("020000000002 020000000001 0806 0001"), DropReason::not_roce);
}

TEST_CASE("the ICRC is looked at last", "[accept]") {
    Bytes frame = make_frame(Opcode::rc_send_only, 8);
    frame[bth_at + 7] = std::byte{0};  // also makes the ICRC wrong
    check_refused(frame, DropReason::zero_destination_qp);
}
