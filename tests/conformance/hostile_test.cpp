// Frames that no honest peer sends (the row hostile; device.md 1.5, lessons 17 to 19): each is dropped with
// one count or answered 0x61, nothing is written, and the other QP does not notice.
#include <catch2/catch.hpp>

#include "protocol/icrc.hpp"
#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

constexpr std::size_t bth = 14 + 20 + 8;

// Cuts or grows the frame behind the BTH, mends lengths and checksum, and seals it again.
std::vector<std::byte> resized(std::vector<std::byte> frame, std::size_t udp_payload) {
    frame.resize(bth + udp_payload);
    const auto put16 = [&frame](std::size_t at, std::size_t value) {
        frame[at] = static_cast<std::byte>(value >> 8);
        frame[at + 1] = static_cast<std::byte>(value);
    };
    put16(14 + 2, 20 + 8 + udp_payload);
    put16(14 + 20 + 4, 8 + udp_payload);
    put16(14 + 10, 0);
    std::uint32_t sum = 0;
    for (std::size_t i = 14; i < 34; i += 2) {
        sum += std::to_integer<std::uint32_t>(frame[i]) << 8 | std::to_integer<std::uint32_t>(frame[i + 1]);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    put16(14 + 10, ~((sum & 0xffff) + (sum >> 16)) & 0xffff);
    if (udp_payload >= 4) protocol::seal_icrc(frame, 14);
    return frame;
}

struct Hostile {
    const char* name;
    std::function<std::vector<std::byte>(const Script&, const Buffer&)> frame;
};

std::vector<std::byte> with_byte(std::vector<std::byte> frame, std::size_t at, std::uint8_t value) {
    frame[at] = std::byte{value};
    protocol::seal_icrc(frame, 14);
    return frame;
}

std::vector<std::byte> send_only(const Script& peer, std::size_t payload) {
    return peer.frame_of(peer.request(Op::send_only, 0, payload));
}

const Hostile hostile_frames[] = {
    {"opcode 0xff", [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth, 0xff); }},
    {"reserved opcode 0x15",
     [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth, 0x15); }},
    {"a UC opcode", [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth, 0x24); }},
    {"a UD opcode", [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth, 0x64); }},
    {"an XRC opcode", [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth, 0xa4); }},
    {"no payload after a WRITE's BTH",
     [](const Script& p, const Buffer&) { return resized(p.frame_of(p.request(Op::write_only, 0)), 16); }},
    {"a WRITE cut inside its RETH",
     [](const Script& p, const Buffer&) { return resized(p.frame_of(p.request(Op::write_only, 0)), 24); }},
    {"an atomic cut inside its header",
     [](const Script& p, const Buffer&) { return resized(p.frame_of(p.request(Op::fetch_add, 0)), 40); }},
    {"an ACK without AETH",
     [](const Script& p, const Buffer&) { return resized(p.frame_of(p.ack(0, 0)), 16); }},
    {"a runt BTH", [](const Script& p, const Buffer&) { return resized(send_only(p, 8), 11); }},
    {"an empty UDP datagram", [](const Script& p, const Buffer&) { return resized(send_only(p, 8), 0); }},
    {"a pad of 3 on 2 bytes",
     [](const Script& p, const Buffer&) {
         return with_byte(resized(send_only(p, 0), 12 + 2 + 4), bth + 1, 0x40 | 0x30);
     }},
    {"TVer 1", [](const Script& p, const Buffer&) { return with_byte(send_only(p, 8), bth + 1, 0x41); }},
    {"P_Key 0x1234",
     [](const Script& p, const Buffer&) {
         RocePacket packet = p.request(Op::send_only, 0, 8);
         packet.p_key = 0x1234;
         return p.frame_of(packet);
     }},
    {"P_Key 0",
     [](const Script& p, const Buffer&) {
         RocePacket packet = p.request(Op::send_only, 0, 8);
         packet.p_key = 0x8000;
         return p.frame_of(packet);
     }},
    {"an unknown QPN",
     [](const Script& p, const Buffer&) {
         RocePacket packet = p.request(Op::send_only, 0, 8);
         packet.dest_qpn ^= 0x5;
         return p.frame_of(packet);
     }},
    {"QPN 0",
     [](const Script& p, const Buffer&) {
         RocePacket packet = p.request(Op::send_only, 0, 8);
         packet.dest_qpn = 0;
         return p.frame_of(packet);
     }},
    {"the multicast QPN",
     [](const Script& p, const Buffer&) {
         RocePacket packet = p.request(Op::send_only, 0, 8);
         packet.dest_qpn = 0xffffff;
         return p.frame_of(packet);
     }},
    {"another host's address as source",
     [](const Script& p, const Buffer&) {
         return write_frame(p.request(Op::send_only, 0, 8), address_of(3), p.nic.address);
     }},
    {"an IP address that is not ours",
     [](const Script& p, const Buffer&) {
         Address wrong = p.nic.address;
         wrong.ip[3] = 77;
         return write_frame(p.request(Op::send_only, 0, 8), address_of(2), wrong);
     }},
    {"a MAC address that is not ours",
     [](const Script& p, const Buffer&) {
         Address wrong = p.nic.address;
         wrong.mac[5] = 77;
         return write_frame(p.request(Op::send_only, 0, 8), address_of(2), wrong);
     }},
    {"a wrong ICRC",
     [](const Script& p, const Buffer&) {
         auto frame = send_only(p, 8);
         frame.back() ^= std::byte{1};
         return frame;
     }},
    {"a CNP",
     [](const Script& p, const Buffer&) { return with_byte(resized(send_only(p, 0), 32), bth, 0x81); }},
    {"SEND with invalidate",
     [](const Script& p, const Buffer&) {
         return with_byte(resized(send_only(p, 0), 12 + 4 + 8 + 4), bth, 0x17);
     }},
    {"an ATOMIC WRITE of nothing",
     [](const Script& p, const Buffer&) {
         return with_byte(resized(send_only(p, 0), 12 + 16 + 4), bth, 0x1d);
     }},
    {"a FLUSH", [](const Script& p,
                   const Buffer&) { return with_byte(resized(send_only(p, 0), 12 + 20 + 4), bth, 0x1c); }},
    {"SEND MIDDLE out of the blue",
     [](const Script& p, const Buffer&) { return p.frame_of(p.request(Op::send_middle, 0, 1000)); }},
    {"SEND LAST of nothing",
     [](const Script& p, const Buffer&) { return p.frame_of(p.request(Op::send_last, 0, 0)); }},
    {"a WRITE of more than it announces",
     [](const Script& p, const Buffer& target) {
         return p.frame_of(p.request(Op::write_only, 0, 64, target, 8));
     }},
    {"a WRITE whose end wraps",
     [](const Script& p, const Buffer& target) {
         RocePacket packet = p.request(Op::write_first, 0, 1024, target, 0x2000);
         packet.va = 0xfffffffffffff000;
         return p.frame_of(packet);
     }},
};

}  // namespace

TEST_CASE("hostile: every such frame is dropped with one count, or refused, and harms nobody") {
    for (const Hostile& row : hostile_frames) {
        CAPTURE(row.name);
        Script peer;
        const Buffer target = peer.nic.buffer(64);
        const Buffer sink = peer.nic.buffer(2048);
        peer.post(receive(1, sink.all()));
        peer.hear_frame(row.frame(peer, target));

        const std::string said = peer.says();
        const std::size_t drops = peer.nic.take_drops().size();
        const bool refused =
            said.find("NAK_INVALID_REQUEST psn=+0") == 0 || said.find("NAK_REMOTE_ACCESS psn=+0") == 0;
        CHECK(drops == 1);  // a refusal is a drop, too: nothing of the packet was used
        if (!refused) CHECK(said == "");
        CHECK(same_bytes(target.bytes, std::vector<std::byte>(64)));
        CHECK(same_bytes(sink.bytes, std::vector<std::byte>(2048)));
        CHECK(peer.nic.counters().rdma_rx_packets <= 1);
        if (refused) {
            CHECK(peer.nic.state() == engine::QpState::error);
            continue;
        }
        // A dropped frame changes nothing: the QP works on.
        CHECK(peer.nic.state() == engine::QpState::rts);
        peer.hear(peer.request(Op::send_only, 0, 8));
        CHECK(peer.says() == "ACK psn=+0 msn=1\n");
        CHECK(peer.nic.received() == "wr=1 RECV ok len=8\n");
    }
}

TEST_CASE("hostile: every cut and every flipped header byte of an honest frame is met without harm") {
    for (const Op opcode : {Op::send_only, Op::write_only, Op::read_request, Op::fetch_add, Op::acknowledge,
                            Op::read_response_only, Op::atomic_acknowledge}) {
        CAPTURE(name_of(opcode));
        Script peer;
        const Buffer target = peer.nic.buffer(64);
        const std::size_t payload = opcode == Op::send_only || opcode == Op::write_only ? 8 : 0;
        const auto honest = peer.frame_of(peer.request(opcode, 0, payload, target, 8));
        for (std::size_t size = 0; size < honest.size(); ++size) {
            peer.hear_frame({honest.begin(), honest.begin() + static_cast<std::ptrdiff_t>(size)});
            if (size >= bth) peer.hear_frame(resized(honest, size - bth));
        }
        for (std::size_t at = 0; at < honest.size(); ++at) {
            for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
                std::vector<std::byte> changed = honest;
                changed[at] ^= flip;
                if (at >= bth) protocol::seal_icrc(changed, 14);
                peer.hear_frame(changed);
            }
        }
        CHECK(peer.nic.memory.guards_intact(target.region));
    }
}

}  // namespace rocem::test
