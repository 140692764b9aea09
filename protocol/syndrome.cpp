#include "protocol/syndrome.hpp"

#include <array>

namespace rocem::protocol {
namespace {

constexpr std::array<std::uint32_t, 31> credits = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

// In units of 10 microseconds (IBTA table 45).
constexpr std::array<std::uint32_t, 32> rnr_timers = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

}  // namespace

std::optional<std::uint32_t> credits_of_code(std::uint8_t code) {
    if (code >= credits.size()) return std::nullopt;
    return credits[code];
}

std::uint8_t credit_code_for(std::uint32_t wanted) {
    std::uint8_t code = 0;
    while (code + 1u < credits.size() && credits[code + 1u] <= wanted)
        ++code;
    return code;
}

std::chrono::nanoseconds rnr_timer(std::uint8_t code) {
    return std::chrono::microseconds(10) * rnr_timers[code & 0x1f];
}

}  // namespace rocem::protocol
