// JSON text to a document, stricter than the library's own parser: a key that stands twice in one object
// is an error. Comments (// and /* */) are allowed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/config_error.hpp"

namespace rocem::config {

// A document nested deeper than this is refused.
inline constexpr std::size_t json_depth_max = 64;

// Either the document, or one error at a line and column, or one error for each key that stands twice.
tl::expected<nlohmann::json, ConfigErrors> parse_json(std::string_view text);

// The path of a member below `parent`, with ~ and / escaped (RFC 6901).
std::string child_path(const std::string& parent, std::string_view key);

// A value as it may stand in a message: compact JSON, cut when it is long.
std::string shown(const nlohmann::json& value);

}  // namespace rocem::config
