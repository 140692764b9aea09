// rocem-dump: captures of RoCE as lines, with a verdict on every ICRC.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "tools/rocem-dump/dump.hpp"

int main(int argc, char** argv) {
    using namespace rocem::tools;
    // A reader that goes away (head, a pager) ends the program quietly, whatever the parent set.
    std::signal(SIGPIPE, SIG_DFL);
    std::ios::sync_with_stdio(false);

    DumpOptions options;
    CLI::App app{
        "Prints one line for each frame of a capture, in the words of the InfiniBand specification."};
    app.name("rocem-dump");
    app.footer(
        "Reads pcap (either byte order, microseconds or nanoseconds) and pcapng with Ethernet frames.\n"
        "The last line counts: N frames: N RoCE v2, N other; ICRC N ok, N bad, N not checked.\n"
        "Exit status: 0, 1 if an ICRC is bad, 2 if a file cannot be read or an argument is wrong.");
    app.add_flag("-j,--json", options.json,
                 "one JSON object a line: every header of each frame, at the end the summary");
    app.add_option("FILE", options.files, "captures; - is standard input")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? dump_ok : dump_unreadable;
    }
    return dump(options, std::cout, std::cerr);
}
