#include "queue_engine/qp_transitions.hpp"

#include <array>

namespace rocem::engine {
namespace {

struct Transition {
    QpState from;
    QpState to;
    std::uint32_t required;
    std::uint32_t optional;
};

constexpr std::uint32_t rts_optional =
    attr_cur_state | attr_alt_path | attr_access_flags | attr_min_rnr_timer | attr_path_mig_state;

// RC. Any state to RESET, and any but RESET to ERR, take no attribute and are not listed.
constexpr std::array rc_transitions = {
    Transition{QpState::reset, QpState::init, attr_pkey_index | attr_port | attr_access_flags, 0},
    Transition{QpState::init, QpState::init, 0, attr_pkey_index | attr_port | attr_access_flags},
    Transition{
        QpState::init, QpState::rtr,
        attr_av | attr_path_mtu | attr_dest_qpn | attr_rq_psn | attr_max_dest_rd_atomic | attr_min_rnr_timer,
        attr_alt_path | attr_access_flags | attr_pkey_index},
    Transition{QpState::rtr, QpState::rts,
               attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_sq_psn | attr_max_rd_atomic,
               rts_optional},
    Transition{QpState::rts, QpState::rts, 0, rts_optional},
    Transition{QpState::sqd, QpState::rts, 0, rts_optional},
    Transition{QpState::rts, QpState::sqd, 0, attr_en_sqd_async_notify},
    Transition{QpState::sqd, QpState::sqd, 0,
               attr_port | attr_av | attr_timeout | attr_retry_cnt | attr_rnr_retry | attr_max_rd_atomic |
                   attr_max_dest_rd_atomic | attr_alt_path | attr_access_flags | attr_pkey_index |
                   attr_min_rnr_timer | attr_path_mig_state},
};

bool mask_fits(std::uint32_t mask, std::uint32_t required, std::uint32_t optional) {
    const std::uint32_t attributes = mask & ~attr_state;
    return (attributes & required) == required && (attributes & ~(required | optional)) == 0;
}

}  // namespace

std::optional<TransitionMasks> transition_masks(QpType type, QpState from, QpState to) {
    if (type != QpType::rc) return std::nullopt;
    if (to == QpState::reset || (to == QpState::error && from != QpState::reset)) return TransitionMasks{};
    for (const Transition& transition : rc_transitions) {
        if (transition.from == from && transition.to == to) {
            return TransitionMasks{transition.required, transition.optional};
        }
    }
    return std::nullopt;
}

bool transition_is_legal(QpType type, QpState from, QpState to, std::uint32_t mask) {
    const auto masks = transition_masks(type, from, to);
    return masks && mask_fits(mask, masks->required, masks->optional);
}

}  // namespace rocem::engine
