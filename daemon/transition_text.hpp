// Why a modify_qp was refused, in words.
#pragma once

#include <string>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::daemon {

// "RESET" to "ERR".
const char* state_name(engine::QpState state);

// What is wrong with a mask that the engine refused for a QP in `from`: the attribute that is missing or too
// much, by ibv_modify_qp(3)'s name.
std::string explain_refusal(engine::QpType type, engine::QpState from, const engine::QpAttributes& attributes,
                            std::uint32_t mask);

}  // namespace rocem::daemon
