// A captured frame as JSON: an object per header, every field of it.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/rocem-dump/inspect.hpp"

namespace rocem::tools {

nlohmann::ordered_json frame_json(const Inspection& inspection);

}  // namespace rocem::tools
