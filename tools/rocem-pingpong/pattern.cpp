#include "pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace rocem::tools {
namespace {

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

class Words {
 public:
    Words(std::uint64_t seed, std::uint64_t number) : state_(mix(seed ^ mix(number))) {}

    std::uint64_t next() {
        // xorshift64 (Marsaglia 2003): its state is never 0.
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

 private:
    std::uint64_t state_;
};

}  // namespace

void fill(std::span<std::byte> message, std::uint64_t seed, std::uint64_t number) {
    Words words(seed, number);
    for (std::size_t at = 0; at < message.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = words.next();
        std::memcpy(message.data() + at, &word, std::min(sizeof(word), message.size() - at));
    }
}

std::optional<std::size_t> first_difference(std::span<const std::byte> message, std::uint64_t seed,
                                            std::uint64_t number) {
    Words words(seed, number);
    for (std::size_t at = 0; at < message.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = words.next();
        std::array<std::byte, sizeof(word)> expected;
        std::memcpy(expected.data(), &word, sizeof(word));
        const std::size_t count = std::min(sizeof(word), message.size() - at);
        for (std::size_t i = 0; i < count; ++i) {
            if (message[at + i] != expected[i]) return at + i;
        }
    }
    return std::nullopt;
}

void Digest::add(std::span<const std::byte> bytes) {
    state_ = mix(state_ ^ bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
        state_ = (state_ ^ word) * 0xd6e8feb86659fd93;
        state_ ^= state_ >> 32;
    }
}

}  // namespace rocem::tools
