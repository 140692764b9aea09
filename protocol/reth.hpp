// RDMA extended transport header: where an RDMA request reads or writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/ids.hpp"

namespace rocem::protocol {

struct Reth {
    static constexpr std::size_t size = 16;

    std::uint64_t va = 0;
    RKey r_key;
    std::uint32_t dma_length = 0;  // bytes of the whole message

    static Reth decode(std::span<const std::byte, size> bytes);
    void encode(std::span<std::byte, size> bytes) const;
    friend bool operator==(const Reth&, const Reth&) = default;
};

}  // namespace rocem::protocol
