#include "daemon/wqe_validation.hpp"

#include <optional>

#include "ipc/abi.h"
#include "ipc/shared_word.hpp"

namespace rocem::daemon {
namespace {

constexpr std::array<std::string_view, 8> names{
#define ROCEM_NAME(symbol, text) #symbol,
    ROCEM_WQE_VIOLATIONS(ROCEM_NAME)
#undef ROCEM_NAME
};

constexpr std::array<std::string_view, 8> sentences{
#define ROCEM_SENTENCE(symbol, text) text,
    ROCEM_WQE_VIOLATIONS(ROCEM_SENTENCE)
#undef ROCEM_SENTENCE
};

constexpr std::uint8_t known_flags =
    ROCEM_ABI_SEND_FENCE | ROCEM_ABI_SEND_SIGNALED | ROCEM_ABI_SEND_SOLICITED | ROCEM_ABI_SEND_INLINE;

bool may_be_inline(std::uint8_t opcode) {
    return opcode <= static_cast<std::uint8_t>(engine::WrOpcode::send_with_immediate);
}

std::optional<WqeViolation> check(const rocem_abi_send_wqe& wqe, const engine::QpCapabilities& caps) {
    if (wqe.opcode > static_cast<std::uint8_t>(engine::WrOpcode::fetch_add))
        return WqeViolation::unknown_opcode;
    if ((wqe.flags & ~known_flags) != 0) return WqeViolation::unknown_flags;
    if (wqe.reserved[0] != 0 || wqe.reserved[1] != 0) return WqeViolation::reserved_not_zero;
    if (wqe.num_sge > caps.max_send_sge || wqe.num_sge > wqe_sges_max) return WqeViolation::too_many_sges;
    if ((wqe.flags & ROCEM_ABI_SEND_INLINE) == 0) {
        if (wqe.inline_length != 0) return WqeViolation::length_without_inline;
        return std::nullopt;
    }
    if (!may_be_inline(wqe.opcode)) return WqeViolation::inline_not_allowed;
    if (wqe.num_sge != 0) return WqeViolation::inline_with_sges;
    if (wqe.inline_length > caps.max_inline_data || wqe.inline_length > wqe_inline_bytes_max) {
        return WqeViolation::inline_too_long;
    }
    return std::nullopt;
}

std::span<const engine::Sge> read_sges(const std::byte* from, std::size_t count, WqeScratch& scratch) {
    for (std::size_t i = 0; i < count; ++i) {
        rocem_abi_sge sge;
        ipc::copy_untrusted(&sge, from + i * sizeof(sge), sizeof(sge));
        scratch.sges[i] = {.addr = sge.addr, .length = sge.length, .l_key = protocol::LKey(sge.lkey)};
    }
    return {scratch.sges.data(), count};
}

}  // namespace

std::string_view name(WqeViolation violation) {
    return names[static_cast<std::size_t>(violation)];
}

std::string_view sentence(WqeViolation violation) {
    return sentences[static_cast<std::size_t>(violation)];
}

tl::expected<engine::SendWr, WqeViolation> read_send_wqe(const std::byte* slot, std::uint32_t wqe_index,
                                                         const engine::QpCapabilities& caps,
                                                         WqeScratch& scratch) {
    rocem_abi_send_wqe wqe;
    ipc::copy_untrusted(&wqe, slot, sizeof(wqe));
    if (const auto violation = check(wqe, caps)) return tl::unexpected(*violation);

    engine::SendWr wr;
    wr.wr_id = wqe.wr_id;
    wr.wqe_index = wqe_index;
    wr.opcode = static_cast<engine::WrOpcode>(wqe.opcode);
    wr.signaled = (wqe.flags & ROCEM_ABI_SEND_SIGNALED) != 0;
    wr.solicited = (wqe.flags & ROCEM_ABI_SEND_SOLICITED) != 0;
    wr.fence = (wqe.flags & ROCEM_ABI_SEND_FENCE) != 0;
    wr.inline_data = (wqe.flags & ROCEM_ABI_SEND_INLINE) != 0;
    wr.immediate = wqe.immediate;
    wr.remote_addr = wqe.remote_addr;
    wr.r_key = protocol::RKey(wqe.rkey);
    wr.compare_add = wqe.compare_add;
    wr.swap = wqe.swap;
    const std::byte* const payload = slot + sizeof(wqe);
    if (wr.inline_data) {
        // Whole words; a slot's stride is a multiple of 64, so the last one lies inside it.
        ipc::copy_untrusted(scratch.inline_bytes.data(), payload,
                            (std::size_t{wqe.inline_length} + 7) / 8 * 8);
        wr.inline_bytes = {scratch.inline_bytes.data(), wqe.inline_length};
    } else {
        wr.sges = read_sges(payload, wqe.num_sge, scratch);
    }
    return wr;
}

tl::expected<engine::RecvWr, WqeViolation> read_recv_wqe(const std::byte* slot, std::uint32_t wqe_index,
                                                         const engine::QpCapabilities& caps,
                                                         WqeScratch& scratch) {
    rocem_abi_recv_wqe wqe;
    ipc::copy_untrusted(&wqe, slot, sizeof(wqe));
    if (wqe.reserved != 0) return tl::unexpected(WqeViolation::reserved_not_zero);
    if (wqe.num_sge > caps.max_recv_sge || wqe.num_sge > wqe_sges_max) {
        return tl::unexpected(WqeViolation::too_many_sges);
    }
    engine::RecvWr wr;
    wr.wr_id = wqe.wr_id;
    wr.wqe_index = wqe_index;
    wr.sges = read_sges(slot + sizeof(wqe), wqe.num_sge, scratch);
    return wr;
}

}  // namespace rocem::daemon
