#include <algorithm>

#include "protocol/aeth.hpp"
#include "protocol/atomic_eth.hpp"
#include "protocol/bth.hpp"
#include "protocol/byte_cursor.hpp"
#include "protocol/cnp.hpp"
#include "protocol/deth.hpp"
#include "protocol/feth.hpp"
#include "protocol/ieth.hpp"
#include "protocol/immdt.hpp"
#include "protocol/reth.hpp"
#include "protocol/xrceth.hpp"

namespace rocem::protocol {

namespace {

constexpr std::uint32_t low24 = 0xffffff;

std::uint32_t word(std::span<const std::byte> bytes, std::size_t at) {
    return load_be<std::uint32_t>(&bytes[at]);
}

std::uint32_t byte_and_24(std::uint8_t high, std::uint32_t low) {
    return std::uint32_t{high} << 24 | (low & low24);
}

}  // namespace

Bth Bth::decode(std::span<const std::byte, size> bytes) {
    const auto flags = std::to_integer<unsigned>(bytes[1]);
    const std::uint32_t qp_word = word(bytes, 4);
    const std::uint32_t psn_word = word(bytes, 8);
    Bth bth;
    bth.opcode = std::to_integer<std::uint8_t>(bytes[0]);
    bth.solicited_event = (flags & 0x80) != 0;
    bth.mig_req = (flags & 0x40) != 0;
    bth.pad_count = static_cast<std::uint8_t>((flags >> 4) & 0x03);
    bth.t_ver = static_cast<std::uint8_t>(flags & 0x0f);
    bth.p_key = PKey(load_be<std::uint16_t>(&bytes[2]));
    bth.fecn = (qp_word & 0x80000000u) != 0;
    bth.becn = (qp_word & 0x40000000u) != 0;
    bth.resv6 = static_cast<std::uint8_t>((qp_word >> 24) & 0x3f);
    bth.dest_qp = Qpn(qp_word & low24);
    bth.ack_request = (psn_word & 0x80000000u) != 0;
    bth.resv7 = static_cast<std::uint8_t>((psn_word >> 24) & 0x7f);
    bth.psn = Psn(psn_word);
    return bth;
}

void Bth::encode(std::span<std::byte, size> bytes) const {
    bytes[0] = std::byte{opcode};
    bytes[1] = static_cast<std::byte>((solicited_event ? 0x80 : 0) | (mig_req ? 0x40 : 0) |
                                      (pad_count & 0x03) << 4 | (t_ver & 0x0f));
    store_be(&bytes[2], p_key.value());
    const auto congestion = static_cast<std::uint8_t>((fecn ? 0x80 : 0) | (becn ? 0x40 : 0) | (resv6 & 0x3f));
    store_be(&bytes[4], byte_and_24(congestion, dest_qp.value()));
    const auto ack = static_cast<std::uint8_t>((ack_request ? 0x80 : 0) | (resv7 & 0x7f));
    store_be(&bytes[8], byte_and_24(ack, psn.value()));
}

Reth Reth::decode(std::span<const std::byte, size> bytes) {
    Reth reth;
    reth.va = load_be<std::uint64_t>(&bytes[0]);
    reth.r_key = RKey(word(bytes, 8));
    reth.dma_length = word(bytes, 12);
    return reth;
}

void Reth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], va);
    store_be(&bytes[8], r_key.value());
    store_be(&bytes[12], dma_length);
}

Aeth Aeth::decode(std::span<const std::byte, size> bytes) {
    Aeth aeth;
    aeth.syndrome = std::to_integer<std::uint8_t>(bytes[0]);
    aeth.msn = Msn(word(bytes, 0) & low24);
    return aeth;
}

void Aeth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], byte_and_24(syndrome, msn.value()));
}

AtomicEth AtomicEth::decode(std::span<const std::byte, size> bytes) {
    AtomicEth eth;
    eth.va = load_be<std::uint64_t>(&bytes[0]);
    eth.r_key = RKey(word(bytes, 8));
    eth.swap_or_add = load_be<std::uint64_t>(&bytes[12]);
    eth.compare = load_be<std::uint64_t>(&bytes[20]);
    return eth;
}

void AtomicEth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], va);
    store_be(&bytes[8], r_key.value());
    store_be(&bytes[12], swap_or_add);
    store_be(&bytes[20], compare);
}

AtomicAckEth AtomicAckEth::decode(std::span<const std::byte, size> bytes) {
    AtomicAckEth eth;
    eth.original = load_be<std::uint64_t>(&bytes[0]);
    return eth;
}

void AtomicAckEth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], original);
}

Deth Deth::decode(std::span<const std::byte, size> bytes) {
    Deth deth;
    deth.q_key = QKey(word(bytes, 0));
    deth.resv8 = std::to_integer<std::uint8_t>(bytes[4]);
    deth.src_qp = Qpn(word(bytes, 4) & low24);
    return deth;
}

void Deth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], q_key.value());
    store_be(&bytes[4], byte_and_24(resv8, src_qp.value()));
}

ImmDt ImmDt::decode(std::span<const std::byte, size> bytes) {
    ImmDt immdt;
    immdt.value = word(bytes, 0);
    return immdt;
}

void ImmDt::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], value);
}

Ieth Ieth::decode(std::span<const std::byte, size> bytes) {
    Ieth ieth;
    ieth.r_key = RKey(word(bytes, 0));
    return ieth;
}

void Ieth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], r_key.value());
}

XrcEth XrcEth::decode(std::span<const std::byte, size> bytes) {
    XrcEth eth;
    eth.resv8 = std::to_integer<std::uint8_t>(bytes[0]);
    eth.srqn = Qpn(word(bytes, 0) & low24);
    return eth;
}

void XrcEth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], byte_and_24(resv8, srqn.value()));
}

Feth Feth::decode(std::span<const std::byte, size> bytes) {
    const std::uint32_t value = word(bytes, 0);
    Feth feth;
    feth.resv = value & ~0x3fu;
    feth.placement_type = static_cast<std::uint8_t>(value & 0x0f);
    feth.selectivity = static_cast<std::uint8_t>((value >> 4) & 0x03);
    return feth;
}

void Feth::encode(std::span<std::byte, size> bytes) const {
    store_be(&bytes[0], (resv & ~0x3fu) | (selectivity & 0x03u) << 4 | (placement_type & 0x0fu));
}

Cnp Cnp::decode(std::span<const std::byte, size> bytes) {
    Cnp cnp;
    std::copy(bytes.begin(), bytes.end(), cnp.reserved.begin());
    return cnp;
}

void Cnp::encode(std::span<std::byte, size> bytes) const {
    std::copy(reserved.begin(), reserved.end(), bytes.begin());
}

}  // namespace rocem::protocol
