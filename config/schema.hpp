// config/rocem.schema.json, built into the program, and what a document has against it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "config/config_error.hpp"

namespace rocem::config {

// The text of config/rocem.schema.json.
std::string_view schema_text();

// Every place where the document breaks the schema; empty if it keeps it. The validator says where, the
// schema's own words say what was expected there.
ConfigErrors check_schema(const nlohmann::json& document);

}  // namespace rocem::config
