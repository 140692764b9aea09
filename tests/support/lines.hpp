// Texts of one fact a line: how stories state what they expect, and how they print what they got.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/drop_reason.hpp"
#include "queue_engine/events.hpp"
#include "queue_engine/qp_attributes.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::test {

// The lines of a raw string without their indentation, blank lines and `// notes`; each ends with '\n'.
std::string lines(std::string_view text);

// "wr=1 SEND ok", "wr=2 RECV ok len=5 imm=0x1234 solicited", "wr=3 RDMA_WRITE REM_ACCESS_ERR"
std::string describe(const engine::WorkCompletion& completion);
std::string_view name_of(engine::WcStatus status);
std::string_view name_of(engine::QpState state);
std::string_view name_of(engine::EventType type);

}  // namespace rocem::test
