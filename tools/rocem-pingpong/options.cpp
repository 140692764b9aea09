#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace rocem::tools {
namespace {

constexpr const char* about =
    "Moves verified data between two programs through emulated NICs.\n"
    "Start one as the server, then one as the client with the same --peer. The client's choice of verbs, "
    "sizes and\n"
    "counts rules. Ends with 0 only if every byte arrived as it was sent.";

const std::vector<std::string> mtus = {"0", "256", "512", "1024", "2048", "4096"};

std::string verb_choices() {
    std::string text = "all";
    for (const VerbName& entry : verb_names)
        text += std::string(", ") + entry.name;
    return text;
}

// "" or what is wrong.
std::string read_verbs(const std::vector<std::string>& names, std::vector<Verb>& verbs) {
    for (const std::string& name : names) {
        if (name == "all") {
            for (const VerbName& entry : verb_names)
                verbs.push_back(entry.verb);
            continue;
        }
        const auto* const found = std::find_if(verb_names.begin(), verb_names.end(),
                                               [&name](const VerbName& entry) { return name == entry.name; });
        if (found == verb_names.end()) return "--verb: " + name + " is none of " + verb_choices();
        verbs.push_back(found->verb);
    }
    return "";
}

std::string check(const Options& options, const std::string& role) {
    if (role != "server" && role != "client") {
        return role.empty() ? "server or client is missing" : role + " is neither server nor client";
    }
    if (options.sizes.size() > sizes_max) return "--size: more than " + std::to_string(sizes_max) + " sizes";
    if (options.peer.empty()) return "--peer: empty";
    return "";
}

}  // namespace

const char* name_of(Verb verb) {
    for (const VerbName& entry : verb_names) {
        if (entry.verb == verb) return entry.name;
    }
    return "unknown";
}

std::optional<Options> parse_options(int argc, char** argv, int& exit_status) {
    Options options;
    std::string role;
    std::vector<std::string> verbs;
    CLI::App app{about, "rocem-pingpong"};
    app.add_option("role", role, "server or client");
    app.add_option("--socket", options.socket,
                   "the daemon's socket (default: $ROCEM_SOCKET, $XDG_RUNTIME_DIR/rocem/rocemd.sock, "
                   "/run/rocem/rocemd.sock)");
    app.add_option("--nic", options.nic, "the NIC's name (default: the daemon's first)");
    app.add_option("--peer", options.peer,
                   "where the two programs meet before they use RDMA: HOST:PORT, or a path with a / for a "
                   "UNIX socket. "
                   "The server listens there (port 0: any, printed)")
        ->capture_default_str();
    app.add_option("--verb", verbs, "one or more of " + verb_choices() + " (default: all)")->delimiter(',');
    app.add_option("--size", options.sizes, "bytes of a message, one or more (atomics are always 8)")
        ->delimiter(',')
        ->check(CLI::Range(0u, 1u << 30))
        ->capture_default_str();
    app.add_option("--iterations", options.iterations, "messages of each verb and size")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option(
        "--total-bytes", options.total_bytes,
        "instead of --iterations: as many messages of each verb and size as make up so many bytes");
    app.add_option("--depth", options.depth, "messages under way at once")
        ->check(CLI::Range(1u, depth_max))
        ->capture_default_str();
    app.add_option("--mtu", options.mtu, "path MTU in bytes (0: the smaller of both ports' active MTU)")
        ->check(CLI::IsMember(mtus));
    app.add_option("--gid-index", options.gid_index,
                   "of this side's GID table (default: the first IPv4 address, else the first address)")
        ->check(CLI::Range(0, 255));
    app.add_option("--timeout", options.timeout, "ack timeout, 4.096 us << N (0: for ever)")
        ->check(CLI::Range(0, 31))
        ->capture_default_str();
    app.add_option("--retry-cnt", options.retry_cnt, "retries after a timeout or a sequence NAK")
        ->check(CLI::Range(0, 7))
        ->capture_default_str();
    app.add_option("--rnr-retry", options.rnr_retry, "retries after a receiver-not-ready NAK (7: for ever)")
        ->check(CLI::Range(0, 7))
        ->capture_default_str();
    app.add_option("--min-rnr-timer", options.min_rnr_timer,
                   "code of the wait that this side asks for when not ready")
        ->check(CLI::Range(0, 31))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "of the pattern")->capture_default_str();
    app.add_flag("--events", options.events, "sleep until a completion comes instead of polling");
    app.add_flag("-j,--json", options.json, "print the result as one JSON document");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        exit_status = app.exit(error) == 0 ? 0 : 2;
        return std::nullopt;
    }
    if (verbs.empty()) verbs.emplace_back("all");
    std::string wrong = check(options, role);
    if (wrong.empty()) wrong = read_verbs(verbs, options.verbs);
    if (!wrong.empty()) {
        std::fprintf(stderr, "rocem-pingpong: %s (see --help)\n", wrong.c_str());
        exit_status = 2;
        return std::nullopt;
    }
    options.role = role == "server" ? Role::server : Role::client;
    return options;
}

}  // namespace rocem::tools
