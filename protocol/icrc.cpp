#include "protocol/icrc.hpp"

#include <isa-l/crc.h>

#include <array>
#include <cstring>

namespace rocem::protocol {
namespace {

// CRC of the eight 0xFF bytes in front of every frame.
constexpr std::uint32_t icrc_seed = 0x2144df1c;

constexpr std::size_t ipv4_bytes = 20;
constexpr std::size_t ipv6_bytes = 40;
constexpr std::size_t udp_bytes = 8;
constexpr std::size_t bth_bytes = 12;
constexpr std::uint8_t next_header_ib = 0x1b;

using SliceTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr SliceTables make_slice_tables() {
    SliceTables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < 8; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

constexpr SliceTables slices = make_slice_tables();

struct Cpu {
    bool avx = false;
    bool carry_less_multiply = false;
};

const Cpu cpu = [] {
    __builtin_cpu_init();
    return Cpu{__builtin_cpu_supports("avx") != 0,
               __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.2") != 0};
}();

// ISA-L leaves the upper vector halves dirty; until they are cleared every SSE instruction that follows pays
// for it.
__attribute__((target("avx"))) void clear_upper_halves() {
    __builtin_ia32_vzeroupper();
}

// Copies the headers that hold masked fields, with those fields as ones; returns how many bytes of l3 that
// is.
std::size_t mask_headers(std::span<const std::byte> l3,
                         std::span<std::byte, ipv6_bytes + udp_bytes + bth_bytes> masked) {
    constexpr std::byte ones{0xff};
    const bool is_ipv4 = (l3[0] >> 4) == std::byte{4};
    const bool has_udp = is_ipv4 || l3[6] != std::byte{next_header_ib};
    const std::size_t ip = is_ipv4 ? ipv4_bytes : ipv6_bytes;
    const std::size_t udp = has_udp ? udp_bytes : 0;
    std::memcpy(masked.data(), l3.data(), ip + udp + bth_bytes);
    if (is_ipv4) {
        masked[1] = ones;                // type of service
        masked[8] = ones;                // time to live
        masked[10] = masked[11] = ones;  // header checksum
    } else {
        masked[0] |= std::byte{0x0f};  // traffic class, flow label
        masked[1] = masked[2] = masked[3] = ones;
        masked[7] = ones;  // hop limit
    }
    if (has_udp) masked[ip + 6] = masked[ip + 7] = ones;  // UDP checksum
    masked[ip + udp + 4] = ones;                          // BTH: FECN, BECN, resv6
    return ip + udp + bth_bytes;
}

template <class Crc>
std::uint32_t icrc_with(Crc crc, std::span<const std::byte> l3) {
    std::array<std::byte, ipv6_bytes + udp_bytes + bth_bytes> masked;
    const std::size_t headers = mask_headers(l3, masked);
    return crc(crc(icrc_seed, std::span(masked).first(headers)), l3.subspan(headers));
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
    if (!cpu.carry_less_multiply) return crc32_slice_by_8(crc, bytes);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const std::uint32_t result = crc32_gzip_refl(crc, data, bytes.size());
    if (cpu.avx) clear_upper_halves();
    return result;
}

std::uint32_t crc32_slice_by_8(std::uint32_t crc, std::span<const std::byte> bytes) {
    crc = ~crc;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        word ^= crc;
        crc = 0;
        for (std::size_t i = 0; i < 8; ++i)
            crc ^= slices[7 - i][(word >> (8 * i)) & 0xff];
    }
    for (; left > 0; --left, ++at)
        crc = (crc >> 8) ^ slices[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xff];
    return ~crc;
}

std::uint32_t icrc_of(std::span<const std::byte> l3) {
    return icrc_with(crc32, l3);
}

std::uint32_t icrc_of_slice_by_8(std::span<const std::byte> l3) {
    return icrc_with(crc32_slice_by_8, l3);
}

void seal_icrc(std::span<std::byte> frame, std::size_t l3_offset) {
    const std::uint32_t icrc = icrc_of(frame.subspan(l3_offset, frame.size() - l3_offset - icrc_bytes));
    std::memcpy(&frame[frame.size() - icrc_bytes], &icrc, icrc_bytes);  // x86-64: little endian
}

bool icrc_is_right(std::span<const std::byte> l3) {
    std::uint32_t found = 0;
    std::memcpy(&found, &l3[l3.size() - icrc_bytes], icrc_bytes);
    return found == icrc_of(l3.first(l3.size() - icrc_bytes));
}

}  // namespace rocem::protocol
