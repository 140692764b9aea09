#include "config/parse.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "config/check.hpp"
#include "config/json_text.hpp"
#include "config/read_settings.hpp"
#include "config/schema.hpp"

namespace rocem::config {
namespace {

CheckReport report_errors(std::string_view file_name, const ConfigErrors& errors) {
    CheckReport report;
    report.exit_status = 1;
    for (const ConfigError& error : errors) {
        report.text += file_name;
        report.text += ": " + to_string(error) + "\n";
    }
    return report;
}

}  // namespace

tl::expected<DaemonSettings, ConfigErrors> parse_settings(std::string_view text) {
    const auto document = parse_json(text);
    if (!document) return tl::unexpected(document.error());
    if (ConfigErrors errors = check_schema(*document); !errors.empty())
        return tl::unexpected(std::move(errors));
    auto settings = read_settings(*document);
    if (!settings) return settings;
    if (ConfigErrors errors = check_settings(*settings); !errors.empty())
        return tl::unexpected(std::move(errors));
    return settings;
}

tl::expected<std::string, std::string> read_config_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return tl::unexpected(path + ": cannot be opened: " + std::strerror(errno));
    std::string text(config_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.fail() && !file.eof()))
        return tl::unexpected(path + ": cannot be read: " + std::strerror(errno));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > config_bytes_max)
        return tl::unexpected(path + ": larger than " + std::to_string(config_bytes_max) + " bytes");
    return text;
}

CheckReport check_config(std::string_view file_name, std::string_view text) {
    const auto settings = parse_settings(text);
    if (!settings) return report_errors(file_name, settings.error());
    return {std::string(file_name) + ": ok\n", 0};
}

CheckReport check_config_file(const std::string& path) {
    const auto text = read_config_file(path);
    if (!text) return {text.error() + "\n", 2};
    return check_config(path, *text);
}

}  // namespace rocem::config
