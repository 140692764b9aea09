// Distinct types for the numbers and addresses of the wire, so that no integer does two jobs.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rocem::protocol {

// A number of Bits bits; higher bits are cut off.
template <class Tag, class Int, unsigned Bits>
class Number {
 public:
    using Base = Number;
    static constexpr Int mask =
        Bits == sizeof(Int) * 8 ? static_cast<Int>(~Int{0}) : static_cast<Int>((Int{1} << Bits) - 1);

    constexpr Number() = default;
    explicit constexpr Number(Int value) : value_(static_cast<Int>(value & mask)) {}

    constexpr Int value() const { return value_; }
    friend constexpr auto operator<=>(Number, Number) = default;

 private:
    Int value_ = 0;
};

using Qpn = Number<struct QpnTag, std::uint32_t, 24>;
using QKey = Number<struct QKeyTag, std::uint32_t, 32>;
using RKey = Number<struct RKeyTag, std::uint32_t, 32>;
using LKey = Number<struct LKeyTag, std::uint32_t, 32>;

inline constexpr Qpn gsi_qpn{1};
inline constexpr Qpn multicast_qpn{0xffffff};

// Message sequence number of the AETH: 24 bits, circular.
class Msn : public Number<struct MsnTag, std::uint32_t, 24> {
 public:
    using Number::Number;
    constexpr Msn next() const { return Msn(value() + 1); }
    friend constexpr bool operator==(Msn, Msn) = default;
    friend constexpr auto operator<=>(Msn, Msn) = delete;  // circular: no order
};

// Partition key: bit 15 says full member, the rest is the partition (IBTA 10.9.3).
class PKey : public Number<struct PKeyTag, std::uint16_t, 16> {
 public:
    using Number::Number;
    // Same non-zero partition, and at least one side is a full member.
    constexpr bool matches(PKey other) const {
        const unsigned base = value() & 0x7fffu;
        return base != 0 && base == (other.value() & 0x7fffu) && ((value() | other.value()) & 0x8000u) != 0;
    }
};

struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};

    constexpr bool is_multicast() const { return (bytes[0] & 1) != 0; }  // broadcast included
    constexpr bool is_zero() const { return *this == MacAddress{}; }
    static constexpr MacAddress broadcast() { return {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}; }
    static std::optional<MacAddress> from_string(std::string_view text);  // "02:00:00:00:00:01"
    std::string to_string() const;

    friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

struct Ipv4Address {
    std::array<std::uint8_t, 4> bytes{};  // network order

    constexpr bool is_multicast() const { return (bytes[0] & 0xf0) == 0xe0; }
    constexpr bool is_zero() const { return *this == Ipv4Address{}; }
    static std::optional<Ipv4Address> from_string(std::string_view text);
    std::string to_string() const;

    friend constexpr auto operator<=>(const Ipv4Address&, const Ipv4Address&) = default;
};

struct Ipv6Address {
    std::array<std::uint8_t, 16> bytes{};  // network order

    constexpr bool is_multicast() const { return bytes[0] == 0xff; }
    constexpr bool is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
    constexpr bool is_zero() const { return *this == Ipv6Address{}; }
    // ff02::1:ffXX:XXXX, where neighbour solicitations for this address go (RFC 4291 2.7.1).
    Ipv6Address solicited_node() const;
    static std::optional<Ipv6Address> from_string(std::string_view text);
    std::string to_string() const;

    friend constexpr auto operator<=>(const Ipv6Address&, const Ipv6Address&) = default;
};

// A port's address: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d (RoCE v2 annex A17).
struct Gid {
    std::array<std::uint8_t, 16> bytes{};

    static constexpr Gid from_ipv4(Ipv4Address address) {
        Gid gid;
        gid.bytes[10] = gid.bytes[11] = 0xff;
        for (std::size_t i = 0; i < 4; ++i)
            gid.bytes[12 + i] = address.bytes[i];
        return gid;
    }
    static constexpr Gid from_ipv6(Ipv6Address address) { return Gid{address.bytes}; }

    constexpr bool is_ipv4_mapped() const {
        for (std::size_t i = 0; i < 10; ++i) {
            if (bytes[i] != 0) return false;
        }
        return bytes[10] == 0xff && bytes[11] == 0xff;
    }
    constexpr Ipv4Address as_ipv4() const { return {{bytes[12], bytes[13], bytes[14], bytes[15]}}; }
    constexpr Ipv6Address as_ipv6() const { return Ipv6Address{bytes}; }
    constexpr bool is_zero() const { return *this == Gid{}; }
    constexpr bool is_multicast() const {
        return is_ipv4_mapped() ? as_ipv4().is_multicast() : bytes[0] == 0xff;
    }
    static std::optional<Gid> from_string(std::string_view text);  // IPv6 or dotted IPv4
    std::string to_string() const;

    friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

}  // namespace rocem::protocol

template <class Tag, class Int, unsigned Bits>
struct std::hash<rocem::protocol::Number<Tag, Int, Bits>> {
    std::size_t operator()(rocem::protocol::Number<Tag, Int, Bits> n) const noexcept {
        return std::hash<Int>{}(n.value());
    }
};
template <>
struct std::hash<rocem::protocol::Msn> : std::hash<rocem::protocol::Msn::Base> {};
template <>
struct std::hash<rocem::protocol::PKey> : std::hash<rocem::protocol::PKey::Base> {};

namespace rocem::protocol {

// Addresses hash as the bytes they are.
template <class Address>
struct AddressHash {
    std::size_t operator()(const Address& address) const noexcept {
        return std::hash<std::string_view>{}(
            {reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size()});
    }
};

}  // namespace rocem::protocol

template <>
struct std::hash<rocem::protocol::MacAddress> : rocem::protocol::AddressHash<rocem::protocol::MacAddress> {};
template <>
struct std::hash<rocem::protocol::Ipv4Address> : rocem::protocol::AddressHash<rocem::protocol::Ipv4Address> {
};
template <>
struct std::hash<rocem::protocol::Ipv6Address> : rocem::protocol::AddressHash<rocem::protocol::Ipv6Address> {
};
template <>
struct std::hash<rocem::protocol::Gid> : rocem::protocol::AddressHash<rocem::protocol::Gid> {};
