#include "config/address_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace rocem::config {

std::optional<std::uint64_t> parse_guid(const std::string& text) {
    constexpr std::size_t group_digits = 4;
    constexpr std::size_t text_length = 19;
    if (text.size() != text_length) return std::nullopt;
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool separator = i % (group_digits + 1) == group_digits;
        if (separator != (text[i] == ':')) return std::nullopt;
        if (!separator) digits += text[i];
    }
    constexpr int hexadecimal = 16;
    std::uint64_t guid = 0;
    const char* const last = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), last, guid, hexadecimal);
    if (result.ec != std::errc{} || result.ptr != last) return std::nullopt;
    return guid;
}

std::optional<protocol::Gid> parse_ip(const std::string& text) {
    if (const auto ipv4 = protocol::Ipv4Address::from_string(text)) return protocol::Gid::from_ipv4(*ipv4);
    const auto ipv6 = protocol::Ipv6Address::from_string(text);
    if (!ipv6 || protocol::Gid::from_ipv6(*ipv6).is_ipv4_mapped()) return std::nullopt;
    return protocol::Gid::from_ipv6(*ipv6);
}

std::optional<InterfaceAddress> parse_interface_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return std::nullopt;
    const auto gid = parse_ip(text.substr(0, slash));
    if (!gid) return std::nullopt;
    unsigned length = 0;
    const char* const last = text.data() + text.size();
    const auto result = std::from_chars(text.data() + slash + 1, last, length);
    const unsigned length_max = gid->is_ipv4_mapped() ? 32 : 128;
    if (result.ec != std::errc{} || result.ptr != last || length == 0 || length > length_max)
        return std::nullopt;
    return InterfaceAddress{*gid, static_cast<std::uint8_t>(length)};
}

std::string ip_text(const protocol::Gid& gid) {
    return gid.is_ipv4_mapped() ? gid.as_ipv4().to_string() : gid.as_ipv6().to_string();
}

bool in_prefix(const InterfaceAddress& address, const protocol::Gid& other) {
    constexpr std::size_t mapped_prefix_bits = 96;
    std::size_t bits = address.prefix_length + (address.gid.is_ipv4_mapped() ? mapped_prefix_bits : 0);
    for (std::size_t i = 0; bits > 0; ++i) {
        const std::size_t here = std::min<std::size_t>(bits, 8);
        const unsigned mask = (0xff00U >> here) & 0xffU;  // the leading `here` bits of a byte
        if (((address.gid.bytes[i] ^ other.bytes[i]) & mask) != 0) return false;
        bits -= here;
    }
    return true;
}

}  // namespace rocem::config
