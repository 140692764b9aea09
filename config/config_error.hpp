// What is wrong with a configuration, and where.
#pragma once

#include <string>
#include <vector>

namespace rocem::config {

struct ConfigError {
    // A JSON pointer ("/nics/0/port/type"), "" for the whole document, or, when the text is not JSON,
    // "line 3, column 14".
    std::string path;
    // What was expected and what was found, one line without a full stop.
    std::string message;

    friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

using ConfigErrors = std::vector<ConfigError>;

// "/nics/0/mtu: expected one of 256, 512, found 300"; the path is left out when it is empty.
std::string to_string(const ConfigError& error);

}  // namespace rocem::config
