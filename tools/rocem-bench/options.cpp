#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace rocem::tools {

bool BenchOptions::wants(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
}

std::optional<BenchOptions> parse_bench_options(int argc, char** argv, int& exit_status) {
    constexpr int usage_error = 2;
    BenchOptions options;
    CLI::App app{
        "Measures RoCE on one core: what copying and checksumming alone allow, what two engines on one "
        "thread reach, and what a packet costs in instructions."};
    app.name("rocem-bench");
    app.footer(
        "Parts: ceiling (copy + ICRC on each side through net_ring, no protocol), engines (verbs between "
        "two\n"
        "engines over the virtual wire, with the ratio to the ceiling), instructions (decode, encode, ICRC,\n"
        "engine round trip).\n"
        "Figures of two runs compare only on the same quiet machine; the ratio compares between machines.");
    app.add_option("--seconds", options.seconds, "length of each measurement")
        ->check(CLI::Range(0.001, 600.0))
        ->capture_default_str();
    app.add_option("--packets", options.packets, "packets of each instruction count")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
        ->capture_default_str();
    app.add_option("--only", options.only, "these parts only: ceiling, engines, instructions")
        ->delimiter(',')
        ->check(CLI::IsMember({"ceiling", "engines", "instructions"}));
    app.add_flag("--with-daemon", options.with_daemon,
                 "also the same verbs between two client processes, through a rocemd of its own");
    app.add_flag("-j,--json", options.json, "one JSON object");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        exit_status = app.exit(error) == 0 ? 0 : usage_error;
        return std::nullopt;
    }
    return options;
}

}  // namespace rocem::tools
