// rocemctl: what a running daemon has to say.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "ask.hpp"
#include "config/settings.hpp"
#include "show.hpp"

namespace {

struct Arguments {
    bool json = false;
    bool all = false;
    std::string socket;
    std::string nic;
};

std::string show(const std::string& subject, const nlohmann::json& answer, const Arguments& arguments) {
    if (subject == "status") return rocem::tools::show_status(answer);
    if (subject == "nics") return rocem::tools::show_nics(answer);
    if (subject == "qps") return rocem::tools::show_qps(answer);
    return rocem::tools::show_counters(answer, arguments.all);
}

int run(const std::string& subject, const Arguments& arguments) {
    const std::string question = arguments.nic.empty() ? subject : subject + " " + arguments.nic;
    const auto text = rocem::tools::ask_daemon(arguments.socket, question);
    if (!text) {
        std::fprintf(stderr, "rocemctl: %s\n", text.error().c_str());
        return 1;
    }
    if (arguments.json) {
        std::fputs(text->c_str(), stdout);
        return 0;
    }
    try {
        std::fputs(show(subject, nlohmann::json::parse(*text), arguments).c_str(), stdout);
    } catch (const nlohmann::json::exception& error) {
        std::fprintf(stderr, "rocemctl: the daemon's answer is not understood: %s\n", error.what());
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"rocemctl: shows what a running rocemd does"};
    Arguments arguments;
    const char* from_environment = std::getenv("ROCEM_SOCKET");
    arguments.socket = from_environment != nullptr && *from_environment != '\0'
                           ? from_environment
                           : rocem::config::default_socket_path(std::getenv("XDG_RUNTIME_DIR"));
    app.add_flag("-j,--json", arguments.json, "print JSON");
    app.add_option("--socket", arguments.socket, "the daemon's socket")->capture_default_str();
    app.require_subcommand(0, 1);
    app.fallthrough();
    app.add_subcommand("status", "the daemon, its workers and its clients");
    CLI::App* nics = app.add_subcommand("nics", "names, addresses, MTU and ports of the NICs");
    CLI::App* qps = app.add_subcommand("qps", "queue pairs: state, peer, whose they are");
    CLI::App* counters = app.add_subcommand("counters", "packets, errors, drops by reason");
    for (CLI::App* command : {nics, qps, counters}) {
        command->add_option("--nic", arguments.nic, "only this NIC");
    }
    counters->add_flag("--all", arguments.all, "counters that are zero too");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (app.get_subcommands().empty()) {
        std::fputs("rocemctl: what to show is missing: status, nics, qps or counters (see --help)\n", stderr);
        return 2;
    }
    return run(app.get_subcommands().front()->get_name(), arguments);
}
