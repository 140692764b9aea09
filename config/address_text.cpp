#include "config/address_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace rocem::config {
namespace {

constexpr std::size_t ipv4_offset = 12;  // in an IPv4-mapped address
constexpr std::array<std::uint8_t, ipv4_offset> ipv4_mapped_prefix = {0, 0, 0, 0, 0,    0,
                                                                      0, 0, 0, 0, 0xff, 0xff};

// Hexadecimal groups of `digits` digits with colons between them, without the colons.
std::optional<std::uint64_t> parse_hex_groups(const std::string& text, std::size_t digits,
                                              std::size_t groups) {
    if (text.size() != groups * (digits + 1) - 1) return std::nullopt;
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool separator = i % (digits + 1) == digits;
        if (separator != (text[i] == ':')) return std::nullopt;
        if (!separator) all += text[i];
    }
    constexpr int hexadecimal = 16;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value, hexadecimal);
    if (error != std::errc{} || end != all.data() + all.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<protocol::MacAddress> parse_mac(const std::string& text) {
    const auto value = parse_hex_groups(text, 2, 6);
    if (!value) return std::nullopt;
    std::array<std::uint8_t, 6> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(*value >> (40 - 8 * i));
    return protocol::MacAddress(bytes);
}

std::optional<std::uint64_t> parse_guid(const std::string& text) {
    return parse_hex_groups(text, 4, 4);
}

std::optional<protocol::Gid> parse_ip(const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data() + ipv4_offset) == 1) {
        std::copy(ipv4_mapped_prefix.begin(), ipv4_mapped_prefix.end(), bytes.begin());
        return protocol::Gid(bytes);
    }
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
    const protocol::Gid gid(bytes);
    if (is_ipv4(gid)) return std::nullopt;  // one way to write each address
    return gid;
}

std::optional<InterfaceAddress> parse_interface_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return std::nullopt;
    const auto gid = parse_ip(text.substr(0, slash));
    if (!gid) return std::nullopt;
    unsigned length = 0;
    const char* const first = text.data() + slash + 1;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, length);
    const unsigned length_max = is_ipv4(*gid) ? 32 : 128;
    if (error != std::errc{} || end != last || length == 0 || length > length_max) return std::nullopt;
    return InterfaceAddress{*gid, static_cast<std::uint8_t>(length)};
}

std::string ip_text(const protocol::Gid& gid) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_ipv4(gid))
        inet_ntop(AF_INET, gid.bytes().data() + ipv4_offset, text.data(), text.size());
    else
        inet_ntop(AF_INET6, gid.bytes().data(), text.data(), text.size());
    return text.data();
}

std::string mac_text(const protocol::MacAddress& mac) {
    std::string text;
    for (const unsigned byte : mac.bytes()) {
        std::array<char, 4> group{};
        std::snprintf(group.data(), group.size(), "%s%02x", text.empty() ? "" : ":", byte);
        text += group.data();
    }
    return text;
}

bool is_ipv4(const protocol::Gid& gid) {
    return std::equal(ipv4_mapped_prefix.begin(), ipv4_mapped_prefix.end(), gid.bytes().begin());
}

bool in_prefix(const InterfaceAddress& address, const protocol::Gid& other) {
    const std::size_t family_bits = is_ipv4(address.gid) ? 8 * ipv4_offset : 0;
    std::size_t bits = family_bits + address.prefix_length;
    for (std::size_t i = 0; bits > 0; ++i) {
        const std::size_t here = std::min<std::size_t>(bits, 8);
        const unsigned mask = 0xff00U >> here;  // the leading `here` bits of a byte
        if (((address.gid.bytes()[i] ^ other.bytes()[i]) & mask & 0xff) != 0) return false;
        bits -= here;
    }
    return true;
}

}  // namespace rocem::config
