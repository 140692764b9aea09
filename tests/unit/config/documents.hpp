// Configurations to break: a good pair of NICs, and the same with one value changed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/parse.hpp"

namespace rocem::test {

using Json = nlohmann::json;

// Two NICs on a virtual wire, nothing else.
inline Json good_pair() {
    return Json::parse(R"({"nics": [
        {"name": "rocem0", "mac": "02:00:00:00:00:01", "addresses": ["10.1.0.1/24", "fd00::1/64"],
         "port": {"type": "virtual_wire", "wire": "pair"}},
        {"name": "rocem1", "mac": "02:00:00:00:00:02", "addresses": ["10.1.0.2/24"],
         "port": {"type": "virtual_wire", "wire": "pair"}}]})");
}

// One NIC on an interface.
inline Json good_veth() {
    return Json::parse(R"({"nics": [
        {"name": "rocem0", "mac": "02:00:00:00:00:01", "addresses": ["10.1.0.1/24"], "mtu": 4096,
         "port": {"type": "af_packet", "interface": "veth0"}}]})");
}

inline Json with(Json document, const char* pointer, Json value) {
    document[Json::json_pointer(pointer)] = std::move(value);
    return document;
}

// The errors, each as "path: message"; empty for a good configuration.
inline std::vector<std::string> errors_of(const std::string& text) {
    std::vector<std::string> lines;
    const auto settings = config::parse_settings(text);
    if (settings) return lines;
    for (const config::ConfigError& error : settings.error())
        lines.push_back(config::to_string(error));
    return lines;
}

inline std::vector<std::string> errors_of(const Json& document) {
    return errors_of(document.dump());
}

using Lines = std::vector<std::string>;

}  // namespace rocem::test
