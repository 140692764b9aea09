// Which modify_qp is legal: the table of ibv_modify_qp(3) for every transport.
#pragma once

#include <cstdint>
#include <optional>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::engine {

struct TransitionMasks {
    std::uint32_t required = 0;  // QpAttrMask without attr_state
    std::uint32_t optional = 0;
};

// Nothing: there is no such transition, with any attributes.
std::optional<TransitionMasks> transition_masks(QpType type, QpState from, QpState to);

// Whether a QP of this type may go from one state to another with exactly these attributes in the mask.
// attr_cur_state, where allowed, must name the present state; that is the caller's check.
bool transition_is_legal(QpType type, QpState from, QpState to, std::uint32_t mask);

}  // namespace rocem::engine
