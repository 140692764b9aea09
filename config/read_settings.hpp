// A document that keeps the schema, as settings.
#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "config/config_error.hpp"
#include "config/settings.hpp"

namespace rocem::config {

// Reads a document that check_schema() found no fault with. The errors are in what the schema cannot say:
// the text of addresses, and references to workers.
tl::expected<DaemonSettings, ConfigErrors> read_settings(const nlohmann::json& document);

}  // namespace rocem::config
