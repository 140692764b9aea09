#include "tests/support/roce_frame.hpp"

#include <cstdio>
#include <stdexcept>

#include "protocol/icrc.hpp"

namespace rocem::test {
namespace {

constexpr std::size_t ipv4_offset = 14;
constexpr std::size_t udp_offset = ipv4_offset + 20;
constexpr std::size_t bth_offset = udp_offset + 8;
constexpr std::size_t icrc_size = 4;

bool has_reth(Op op) {
    return op == Op::write_first || op == Op::write_only || op == Op::write_only_imm ||
           op == Op::read_request;
}
bool has_immediate(Op op) {
    return op == Op::send_last_imm || op == Op::send_only_imm || op == Op::write_last_imm ||
           op == Op::write_only_imm;
}
bool has_atomic(Op op) {
    return op == Op::compare_swap || op == Op::fetch_add;
}
bool has_aeth(Op op) {
    return op == Op::read_response_first || op == Op::read_response_last || op == Op::read_response_only ||
           op == Op::acknowledge || op == Op::atomic_acknowledge;
}

class Reader {
 public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::uint64_t number(std::size_t size) {
        if (at_ + size > bytes_.size()) throw std::runtime_error("frame ends inside a header");
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value = value << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
        return value;
    }
    std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
    std::uint32_t u24() { return static_cast<std::uint32_t>(number(3)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t u64() { return number(8); }
    void seek(std::size_t at) { at_ = at; }
    std::size_t at() const { return at_; }

 private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
};

class Writer {
 public:
    void number(std::uint64_t value, std::size_t size) {
        for (std::size_t i = size; i-- > 0;)
            bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    std::vector<std::byte> bytes;
};

void write_ipv4_checksum(std::vector<std::byte>& frame) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) {
        sum += std::to_integer<std::uint32_t>(frame[ipv4_offset + i]) << 8 |
               std::to_integer<std::uint32_t>(frame[ipv4_offset + i + 1]);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    frame[ipv4_offset + 10] = static_cast<std::byte>(sum >> 8);
    frame[ipv4_offset + 11] = static_cast<std::byte>(sum);
}

void write_headers(Writer& out, const RocePacket& packet) {
    out.number(static_cast<std::uint8_t>(packet.opcode), 1);
    out.number((packet.solicited_event ? 0x80u : 0u) | (packet.mig_req ? 0x40u : 0u) |
                   (packet.pad_count & 3u) << 4 | (packet.version & 0xfu),
               1);
    out.number(packet.p_key, 2);
    out.number(packet.dest_qpn, 4);
    out.number((packet.ack_request ? 0x80000000u : 0u) | (packet.psn & psn_mask), 4);
    if (has_reth(packet.opcode)) {
        out.number(packet.va, 8);
        out.number(packet.r_key, 4);
        out.number(packet.dma_length, 4);
    }
    if (has_atomic(packet.opcode)) {
        out.number(packet.va, 8);
        out.number(packet.r_key, 4);
        out.number(packet.swap_or_add, 8);
        out.number(packet.compare, 8);
    }
    if (has_aeth(packet.opcode))
        out.number(std::uint32_t{packet.syndrome} << 24 | (packet.msn & psn_mask), 4);
    if (packet.opcode == Op::atomic_acknowledge) out.number(packet.original, 8);
    if (has_immediate(packet.opcode)) out.number(packet.immediate, 4);
}

}  // namespace

bool RocePacket::is_response() const {
    return opcode >= Op::read_response_first && opcode <= Op::atomic_acknowledge;
}

std::string name_of(Op opcode) {
    static constexpr std::array names = {"SEND_FIRST",         "SEND_MIDDLE",         "SEND_LAST",
                                         "SEND_LAST_IMM",      "SEND_ONLY",           "SEND_ONLY_IMM",
                                         "WRITE_FIRST",        "WRITE_MIDDLE",        "WRITE_LAST",
                                         "WRITE_LAST_IMM",     "WRITE_ONLY",          "WRITE_ONLY_IMM",
                                         "READ_REQUEST",       "READ_RESPONSE_FIRST", "READ_RESPONSE_MIDDLE",
                                         "READ_RESPONSE_LAST", "READ_RESPONSE_ONLY",  "ACK",
                                         "ATOMIC_ACK",         "COMPARE_SWAP",        "FETCH_ADD"};
    const auto number = static_cast<std::uint8_t>(opcode);
    if (number < names.size()) return names[number];
    char text[16];
    std::snprintf(text, sizeof text, "OPCODE_%02X", number);
    return text;
}

RocePacket read_frame(std::span<const std::byte> frame, OuterFacts* outer) {
    Reader in(frame);
    in.seek(12);
    if (in.u16() != 0x0800 || in.u8() != 0x45) throw std::runtime_error("not an IPv4 frame");
    OuterFacts facts;
    facts.tos = in.u8();
    in.seek(ipv4_offset + 8);
    facts.ttl = in.u8();
    in.seek(udp_offset);
    facts.source_port = in.u16();
    if (in.u16() != 4791) throw std::runtime_error("not a RoCE v2 frame");
    facts.udp_length = in.u16();
    if (udp_offset + facts.udp_length != frame.size())
        throw std::runtime_error("UDP length and frame differ");

    RocePacket packet;
    in.seek(bth_offset);
    packet.opcode = Op{in.u8()};
    const std::uint8_t flags = in.u8();
    packet.solicited_event = (flags & 0x80) != 0;
    packet.mig_req = (flags & 0x40) != 0;
    packet.pad_count = (flags >> 4) & 3;
    packet.version = flags & 0xf;
    packet.p_key = in.u16();
    packet.dest_qpn = in.u32() & psn_mask;
    const std::uint32_t last_word = in.u32();
    packet.ack_request = (last_word & 0x80000000u) != 0;
    packet.psn = last_word & psn_mask;
    if (has_reth(packet.opcode)) {
        packet.va = in.u64();
        packet.r_key = in.u32();
        packet.dma_length = in.u32();
    }
    if (has_atomic(packet.opcode)) {
        packet.va = in.u64();
        packet.r_key = in.u32();
        packet.swap_or_add = in.u64();
        packet.compare = in.u64();
    }
    if (has_aeth(packet.opcode)) {
        packet.syndrome = in.u8();
        packet.msn = in.u24();
    }
    if (packet.opcode == Op::atomic_acknowledge) packet.original = in.u64();
    if (has_immediate(packet.opcode)) packet.immediate = in.u32();

    const std::size_t trailer = packet.pad_count + icrc_size;
    if (in.at() + trailer > frame.size()) throw std::runtime_error("no room for pad and ICRC");
    packet.payload.assign(frame.begin() + static_cast<std::ptrdiff_t>(in.at()),
                          frame.end() - static_cast<std::ptrdiff_t>(trailer));
    for (std::size_t i = 0; i < packet.pad_count; ++i) {
        if (frame[frame.size() - trailer + i] != std::byte{0}) facts.pad_is_zero = false;
    }
    if (outer != nullptr) *outer = facts;
    return packet;
}

std::vector<std::byte> write_frame(const RocePacket& packet, const Address& from, const Address& to,
                                   std::uint16_t source_port) {
    Writer bth;
    write_headers(bth, packet);
    const std::size_t udp_length =
        8 + bth.bytes.size() + packet.payload.size() + packet.pad_count + icrc_size;

    Writer out;
    for (const std::uint8_t byte : to.mac)
        out.number(byte, 1);
    for (const std::uint8_t byte : from.mac)
        out.number(byte, 1);
    out.number(0x0800, 2);
    out.number(0x4500, 2);
    out.number(20 + udp_length, 2);
    out.number(0x00004000, 4);  // ID 0, DF
    out.number(0x40110000, 4);  // TTL 64, UDP, checksum follows
    for (const std::uint8_t byte : from.ip)
        out.number(byte, 1);
    for (const std::uint8_t byte : to.ip)
        out.number(byte, 1);
    out.number(source_port, 2);
    out.number(4791, 2);
    out.number(udp_length, 2);
    out.number(0, 2);
    out.bytes.insert(out.bytes.end(), bth.bytes.begin(), bth.bytes.end());
    out.bytes.insert(out.bytes.end(), packet.payload.begin(), packet.payload.end());
    out.bytes.insert(out.bytes.end(), packet.pad_count + icrc_size, std::byte{0});
    write_ipv4_checksum(out.bytes);
    protocol::seal_icrc(out.bytes, ipv4_offset);
    return out.bytes;
}

}  // namespace rocem::test
