// Work requests as a client wrote them, to work requests that the engine may see (decision 1).
//
// Every byte of a slot is read once, into a private copy; only the copy is judged and used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

#include "queue_engine/qp_attributes.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::daemon {

// How a client broke the rules; its library refuses all of these, so each ends the session.
// symbol, sentence
#define ROCEM_WQE_VIOLATIONS(X)                                                             \
    X(unknown_opcode, "the opcode is not one of ibv_wr_opcode's 0 to 6")                    \
    X(unknown_flags, "send flags other than fence, signaled, solicited and inline are set") \
    X(reserved_not_zero, "a reserved field is not zero")                                    \
    X(too_many_sges, "num_sge is above the queue's limit")                                  \
    X(inline_too_long, "inline_length is above the queue's max_inline_data")                \
    X(inline_not_allowed, "inline data on a READ or an atomic")                             \
    X(inline_with_sges, "inline data together with num_sge")                                \
    X(length_without_inline, "inline_length without the inline flag")

enum class WqeViolation : std::uint8_t {
#define ROCEM_DECLARE(symbol, sentence) symbol,
    ROCEM_WQE_VIOLATIONS(ROCEM_DECLARE)
#undef ROCEM_DECLARE
};

std::string_view name(WqeViolation violation);
std::string_view sentence(WqeViolation violation);

inline constexpr std::size_t wqe_sges_max = 32;           // limits.max_sge is never above
inline constexpr std::size_t wqe_inline_bytes_max = 512;  // limits.max_inline_data is never above

// Where the spans of a validated request point until the next one is read.
struct WqeScratch {
    std::array<engine::Sge, wqe_sges_max> sges;
    std::array<std::byte, wqe_inline_bytes_max> inline_bytes;
};

// The slot holds a rocem_abi_send_wqe and what follows it for a queue of these capabilities. wqe_index is
// echoed.
tl::expected<engine::SendWr, WqeViolation> read_send_wqe(const std::byte* slot, std::uint32_t wqe_index,
                                                         const engine::QpCapabilities& caps,
                                                         WqeScratch& scratch);

tl::expected<engine::RecvWr, WqeViolation> read_recv_wqe(const std::byte* slot, std::uint32_t wqe_index,
                                                         const engine::QpCapabilities& caps,
                                                         WqeScratch& scratch);

}  // namespace rocem::daemon
