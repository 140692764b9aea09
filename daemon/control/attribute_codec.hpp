// QP attributes between the control messages and the engine, each field checked and named.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "daemon/control/services.hpp"
#include "ipc/abi.h"
#include "queue_engine/qp_attributes.hpp"

namespace rocem::daemon {

// The attributes that the mask selects; the error names the field, its value and what was expected. Which
// attributes a transition needs is the engine's business.
tl::expected<engine::QpAttributes, std::string> read_attributes(const rocem_abi_qp_attributes& message,
                                                                std::uint32_t mask, const NicView& nic);

rocem_abi_qp_attributes write_attributes(const engine::QpAttributes& attributes);

}  // namespace rocem::daemon
