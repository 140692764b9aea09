// Text of a configuration file to checked settings.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/config_error.hpp"
#include "config/settings.hpp"

namespace rocem::config {

// A longer configuration file is refused.
inline constexpr std::size_t config_bytes_max = std::size_t{1} << 20;

// Three sieves, each of which names everything that it catches: the text is JSON without repeated keys;
// the document keeps the schema; its values fit together. A later sieve is used only when the ones before
// it caught nothing.
tl::expected<DaemonSettings, ConfigErrors> parse_settings(std::string_view text);

// The bytes of a file, or a sentence that says why they cannot be had.
tl::expected<std::string, std::string> read_config_file(const std::string& path);

// What `rocemd --check-config FILE` prints and how it ends: 0 and "FILE: ok", 1 and a line
// "FILE: /nics/0/mtu: expected …, found …" for each error, 2 and a line if the file cannot be read.
struct CheckReport {
    std::string text;
    int exit_status = 0;
};

CheckReport check_config(std::string_view file_name, std::string_view text);
CheckReport check_config_file(const std::string& path);

}  // namespace rocem::config
