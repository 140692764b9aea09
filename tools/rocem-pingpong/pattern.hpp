// What messages are filled with, and how a stream of them is summed up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocem::tools {

// The bytes of message `number` of a stream: nothing in them repeats from one message to the next.
void fill(std::span<std::byte> message, std::uint64_t seed, std::uint64_t number);

// Offset of the first byte that fill() would not have written.
std::optional<std::size_t> first_difference(std::span<const std::byte> message, std::uint64_t seed,
                                            std::uint64_t number);

// A 64-bit digest of everything added, in order; the lengths of the pieces count, too. Finds accidents, not
// malice.
class Digest {
 public:
    void add(std::span<const std::byte> bytes);
    std::uint64_t value() const { return state_; }

 private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace rocem::tools
