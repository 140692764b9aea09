// rocem-replay: captured requests into the engine, its answers against the captured ones.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "tools/rocem-replay/command.hpp"

int main(int argc, char** argv) {
    using namespace rocem::tools;
    // A reader that goes away (head, a pager) ends the program quietly, whatever the parent set.
    std::signal(SIGPIPE, SIG_DFL);
    std::ios::sync_with_stdio(false);

    ReplayOptions options;
    CLI::App app{
        "Plays the requests of each RC connection of a capture into the engine and compares its answers with "
        "those that were captured: opcode, PSN, syndrome, MSN and payload."};
    app.name("rocem-replay");
    app.footer(
        "What a capture cannot tell (regions, receives, a lossy link) is read from the JSON file beside it:\n"
        "t_rnr.json beside t_rnr.pcap. Without one it is inferred, and the output says so.\n"
        "The last line counts: N connections: N requests, N answers equal, N different, N explained, N not "
        "compared.\n"
        "Exit status: 0, 1 if there is a difference that nothing explains, 2 if a file cannot be read or an\n"
        "argument is wrong.");
    app.add_flag("-j,--json", options.json, "one JSON object a capture, at the end the summary");
    app.add_flag("-v,--verbose", options.verbose, "every answer, equal and explained ones too");
    app.add_option("FILE", options.files, "captures: pcap or pcapng with Ethernet frames")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? replay_ok : replay_unreadable;
    }
    return replay_files(options, std::cout, std::cerr);
}
