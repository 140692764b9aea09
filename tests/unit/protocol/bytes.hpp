// Bytes as hexadecimal text, buffers that notice a write past their end, and random bytes from a seed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocem::test {

using Bytes = std::vector<std::byte>;

// Pairs of digits; blanks between them are skipped.
inline Bytes from_hex(std::string_view text) {
    Bytes bytes;
    std::string digits;
    for (const char c : text) {
        if (c == ' ' || c == '\n') continue;
        digits += c;
        if (digits.size() < 2) continue;
        bytes.push_back(static_cast<std::byte>(std::stoul(digits, nullptr, 16)));
        digits.clear();
    }
    return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<std::size_t>(byte) >> 4];
        text += digits[std::to_integer<std::size_t>(byte) & 15];
    }
    return text;
}

// Size bytes of 0xA5 for an encoder to write into, with more of them behind.
template <std::size_t Size>
class Guarded {
 public:
    Guarded() { bytes_.fill(fill); }

    std::span<std::byte, Size> span() { return std::span(bytes_).template first<Size>(); }
    std::string hex() const { return to_hex(std::span(bytes_).template first<Size>()); }
    bool guard_is_untouched() const {
        return std::all_of(bytes_.begin() + Size, bytes_.end(), [](std::byte byte) { return byte == fill; });
    }

 private:
    static constexpr std::byte fill{0xa5};
    std::array<std::byte, Size + 16> bytes_;
};

inline Bytes random_bytes(std::mt19937& random, std::size_t count) {
    Bytes bytes(count);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    return bytes;
}

// decode and encode agree on the bytes of one header.
template <class Header>
std::string decode_encode(std::string_view hex) {
    const Bytes bytes = from_hex(hex);
    Guarded<Header::size> out;
    Header::decode(std::span(bytes).template first<Header::size>()).encode(out.span());
    return out.guard_is_untouched() ? out.hex() : "wrote past the end";
}

}  // namespace rocem::test
