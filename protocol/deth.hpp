// Datagram extended transport header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Deth {
    static constexpr std::size_t size = 8;

    QKey q_key;
    std::uint8_t resv8 = 0;
    Qpn src_qp;

    static Deth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Deth&, const Deth&) = default;
};

}  // namespace rocem::protocol
