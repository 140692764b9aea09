// rocem-check: are the connections of a capture right, judged from their frames alone?
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <map>

#include "tools/rocem-check/command.hpp"

int main(int argc, char** argv) {
    using namespace rocem::tools;
    // A reader that goes away (head, a pager) ends the program quietly, whatever the parent set.
    std::signal(SIGPIPE, SIG_DFL);
    std::ios::sync_with_stdio(false);

    const std::map<std::string, Profile> profiles = {
        {"spec", Profile::spec}, {"rxe", Profile::rxe}, {"cx", Profile::cx}};
    const std::map<std::string, Tap> taps = {{"anywhere", Tap::anywhere},
                                             {"senders", Tap::senders},
                                             {"requester", Tap::requester},
                                             {"responder", Tap::responder}};
    CheckCommand command;
    unsigned timeout = 0;
    unsigned mtu = 0;
    unsigned max_rd_atomic = 0;
    CLI::App app{
        "Judges the RC, XRC and UC connections of a capture from their frames alone: go-back-N, NAKs, ACKs, "
        "message sequence numbers, READ responses, atomics, lengths and timers."};
    app.name("rocem-check");
    app.footer(
        "Frames count from 1. What a lossy network explains is no finding: say with --tap and --timeout "
        "what\n"
        "is known, and more can be judged.\n"
        "The last line counts: N frames: N connections, N requests, N violations, N deviations.\n"
        "Exit status: 0, 1 if a rule is broken, 2 if a file cannot be read or an argument is wrong.");
    app.add_flag("-j,--json", command.json, "one JSON object a capture, at the end the summary");
    app.add_option("--profile", command.options.profile, "whose habits are accepted by name: spec, rxe, cx")
        ->transform(CLI::CheckedTransformer(profiles));
    app.add_option("--tap", command.options.tap,
                   "where the capture was made: anywhere, senders, requester, responder")
        ->transform(CLI::CheckedTransformer(taps));
    const auto* timeout_option =
        app.add_option("--timeout", timeout, "the local ACK timeout n: T is 4.096 us * 2^n, 0 is never")
            ->check(CLI::Range(0u, 31u));
    const auto* mtu_option =
        app.add_option("--mtu", mtu, "the path MTU in bytes; otherwise inferred for each connection")
            ->check(CLI::IsMember({256u, 512u, 1024u, 2048u, 4096u}));
    const auto* rd_atomic_option =
        app.add_option("--max-rd-atomic", max_rd_atomic, "READs and atomics that may be outstanding");
    app.add_flag("--reordering", command.options.reordering, "the network lets frames overtake each other");
    app.add_flag("--ended", command.options.ended, "the capture ends when all is done");
    app.add_option("FILE", command.files, "captures: pcap or pcapng with Ethernet frames")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? check_ok : check_unreadable;
    }
    if (*timeout_option) {
        constexpr std::chrono::nanoseconds unit{4096};
        command.options.ack_timeout =
            timeout == 0 ? std::chrono::nanoseconds{0} : unit * (std::int64_t{1} << timeout);
    }
    if (*mtu_option) command.options.mtu = rocem::protocol::PathMtu::from_bytes(mtu);
    if (*rd_atomic_option) command.options.max_rd_atomic = max_rd_atomic;
    return check_files(command, std::cout, std::cerr);
}
