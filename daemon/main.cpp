// rocemd: command line, log, configuration; everything else is Daemon's.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "config/parse.hpp"
#include "daemon/daemon.hpp"

namespace {

using rocem::config::LogLevel;

struct Arguments {
    std::string config;
    std::string check_config;
    std::string socket;
    std::string log_level;
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::trace:
            return spdlog::level::trace;
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
        case LogLevel::off:
            return spdlog::level::off;
    }
    return spdlog::level::info;
}

std::optional<LogLevel> log_level_named(const std::string& name) {
    if (name == "trace") return LogLevel::trace;
    if (name == "debug") return LogLevel::debug;
    if (name == "info") return LogLevel::info;
    if (name == "warning") return LogLevel::warning;
    if (name == "error") return LogLevel::error;
    if (name == "off") return LogLevel::off;
    return std::nullopt;
}

int check_config(const std::string& path) {
    const rocem::config::CheckReport report = rocem::config::check_config_file(path);
    std::fputs(report.text.c_str(), report.exit_status == 0 ? stdout : stderr);
    return report.exit_status;
}

std::optional<rocem::config::DaemonSettings> load_settings(const std::string& path) {
    const auto text = rocem::config::read_config_file(path);
    if (!text) {
        std::fprintf(stderr, "rocemd: %s\n", text.error().c_str());
        return std::nullopt;
    }
    auto settings = rocem::config::parse_settings(*text);
    if (!settings) {
        for (const auto& error : settings.error()) {
            std::fprintf(stderr, "rocemd: %s: %s\n", path.c_str(), rocem::config::to_string(error).c_str());
        }
        return std::nullopt;
    }
    return std::move(*settings);
}

int run(const Arguments& arguments) {
    auto settings = load_settings(arguments.config);
    if (!settings) return 2;
    if (!arguments.socket.empty()) settings->socket.path = arguments.socket;
    if (settings->socket.path.empty()) {
        settings->socket.path = rocem::config::default_socket_path(std::getenv("XDG_RUNTIME_DIR"));
    }
    if (const auto level = log_level_named(arguments.log_level)) settings->log_level = *level;

    // Lines go to stderr, where systemd and people both read them.
    spdlog::logger log("rocemd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    log.set_level(spdlog_level(settings->log_level));
    log.set_pattern("%Y-%m-%dT%H:%M:%S.%f %l: %v");

    auto daemon = rocem::daemon::Daemon::start(*settings, log);
    if (!daemon) {
        log.error("cannot start: {}", daemon.error());
        return 1;
    }
    return (*daemon)->run();
}

}  // namespace

int main(int argc, char** argv) {
    // A client that went away must cost a return value, not the process.
    std::signal(SIGPIPE, SIG_IGN);

    CLI::App app{"rocemd: software RoCE v2 NICs for the programs of this machine"};
    Arguments arguments;
    app.add_option("--config", arguments.config, "JSON file with the NICs to make");
    app.add_option("--check-config", arguments.check_config,
                   "check a configuration and end: 0 good, 1 wrong, 2 unreadable");
    app.add_option("--socket", arguments.socket, "listen here instead of where the configuration says");
    app.add_option("--log-level", arguments.log_level, "trace, debug, info, warning, error or off")
        ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}));
    app.set_version_flag("--version", "rocemd " ROCEM_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (!arguments.check_config.empty()) return check_config(arguments.check_config);
    if (arguments.config.empty()) {
        std::fputs("rocemd: --config FILE is missing (see --help)\n", stderr);
        return 2;
    }
    return run(arguments);
}
