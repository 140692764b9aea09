#include <arpa/inet.h>

#include <cstdio>
#include <cstring>

#include "protocol/ids.hpp"

namespace rocem::protocol {
namespace {

// inet_pton wants a terminated string; no address is longer than this.
template <std::size_t N>
bool parse_inet(int family, std::string_view text, std::array<std::uint8_t, N>& bytes) {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated) return false;
    text.copy(terminated, text.size());
    terminated[text.size()] = '\0';
    return inet_pton(family, terminated, bytes.data()) == 1;
}

template <std::size_t N>
std::string print_inet(int family, const std::array<std::uint8_t, N>& bytes) {
    char text[INET6_ADDRSTRLEN];
    return inet_ntop(family, bytes.data(), text, sizeof text);
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::optional<MacAddress> MacAddress::from_string(std::string_view text) {
    constexpr std::size_t text_bytes = 17;
    if (text.size() != text_bytes) return std::nullopt;
    MacAddress mac;
    for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
        const int high = hex_digit(text[i * 3]);
        const int low = hex_digit(text[i * 3 + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        if (i + 1 < mac.bytes.size() && text[i * 3 + 2] != ':') return std::nullopt;
        mac.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return mac;
}

std::string MacAddress::to_string() const {
    char text[18];
    std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3],
                  bytes[4], bytes[5]);
    return text;
}

std::optional<Ipv4Address> Ipv4Address::from_string(std::string_view text) {
    Ipv4Address address;
    if (!parse_inet(AF_INET, text, address.bytes)) return std::nullopt;
    return address;
}

std::string Ipv4Address::to_string() const {
    return print_inet(AF_INET, bytes);
}

Ipv6Address Ipv6Address::solicited_node() const {
    return {{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, bytes[13], bytes[14], bytes[15]}};
}

std::optional<Ipv6Address> Ipv6Address::from_string(std::string_view text) {
    Ipv6Address address;
    if (!parse_inet(AF_INET6, text, address.bytes)) return std::nullopt;
    return address;
}

std::string Ipv6Address::to_string() const {
    return print_inet(AF_INET6, bytes);
}

std::optional<Gid> Gid::from_string(std::string_view text) {
    if (const auto ipv4 = Ipv4Address::from_string(text)) return from_ipv4(*ipv4);
    if (const auto ipv6 = Ipv6Address::from_string(text)) return from_ipv6(*ipv6);
    return std::nullopt;
}

std::string Gid::to_string() const {
    return print_inet(AF_INET6, bytes);
}

}  // namespace rocem::protocol
