#include "with_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ipc/unique_fd.hpp"
#include "pair.hpp"

extern char** environ;

namespace rocem::tools {
namespace {

namespace fs = std::filesystem;

constexpr int start_patience_ms = 60'000;

// A program with its output in a pipe; killed and reaped when it goes out of scope.
class Program {
 public:
    explicit Program(std::vector<std::string> arguments) {
        int ends[2] = {-1, -1};
        if (pipe2(ends, O_CLOEXEC) != 0) return;
        output_.reset(ends[0]);
        const ipc::UniqueFd write_end(ends[1]);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDERR_FILENO);
        std::vector<char*> argv;
        for (std::string& argument : arguments)
            argv.push_back(argument.data());
        argv.push_back(nullptr);
        if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
        posix_spawn_file_actions_destroy(&actions);
    }
    ~Program() {
        if (pid_ <= 0) return;
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // What it prints until its output closes; its exit status.
    std::string finish(int& status) {
        std::string text;
        char buffer[4096];
        for (ssize_t got = 0; pid_ > 0 && (got = read(output_.get(), buffer, sizeof buffer)) > 0;) {
            text.append(buffer, static_cast<std::size_t>(got));
        }
        status = -1;
        if (pid_ > 0) waitpid(pid_, &status, 0);
        pid_ = -1;
        return text;
    }

    // Whether it printed something that holds this text before long.
    bool says(const std::string& wanted) {
        std::string text;
        char buffer[512];
        pollfd waiting{output_.get(), POLLIN, 0};
        while (pid_ > 0 && text.find(wanted) == std::string::npos &&
               poll(&waiting, 1, start_patience_ms) > 0) {
            const ssize_t got = read(output_.get(), buffer, sizeof buffer);
            if (got <= 0) return false;
            text.append(buffer, static_cast<std::size_t>(got));
        }
        return text.find(wanted) != std::string::npos;
    }

 private:
    pid_t pid_ = -1;
    ipc::UniqueFd output_;
};

struct Directory {
    std::string path;
    Directory() {
        char name[] = "/tmp/rocem-bench-XXXXXX";
        if (mkdtemp(name) != nullptr) path = name;
    }
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

void write_config(const std::string& path) {
    nlohmann::json config;
    for (int i = 0; i < 2; ++i) {
        config["nics"].push_back({{"name", "bench" + std::to_string(i)},
                                  {"mac", "02:00:00:00:0b:0" + std::to_string(i + 1)},
                                  {"addresses", {"10.77.66." + std::to_string(i + 1) + "/24"}},
                                  {"mtu", 4096},
                                  {"port", {{"type", "virtual_wire"}, {"wire", "bench"}}}});
    }
    std::ofstream(path) << config.dump(2);
}

const char* verb_of(engine::WrOpcode opcode) {
    switch (opcode) {
        case engine::WrOpcode::rdma_read:
            return "read";
        case engine::WrOpcode::send:
            return "send";
        default:
            return "write";
    }
}

// Messages that take roughly so long on a slow machine.
std::uint64_t messages_for(const Workload& workload, double seconds) {
    return workload.message_bytes >= 65536 ? static_cast<std::uint64_t>(5000 * seconds) + 10
                                           : static_cast<std::uint64_t>(50000 * seconds) + 100;
}

tl::expected<VerbFigure, std::string> measure_one(const std::string& pingpong, const Directory& directory,
                                                  const Workload& workload, double seconds) {
    const std::string socket = directory.path + "/d.sock";
    const std::string peer = directory.path + "/meet.sock";
    Program server({pingpong, "server", "--socket", socket, "--nic", "bench1", "--peer", peer});
    if (!server.says("ready")) return tl::unexpected(std::string("rocem-pingpong server did not start"));
    Program client({pingpong, "client", "-j", "--socket", socket, "--nic", "bench0", "--peer", peer, "--verb",
                    verb_of(workload.opcode), "--size", std::to_string(workload.message_bytes), "--mtu",
                    std::to_string(workload.mtu), "--depth", "32", "--iterations",
                    std::to_string(messages_for(workload, seconds))});
    int status = 0;
    const std::string text = client.finish(status);
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (status != 0 || document.is_discarded() || document["phases"].empty()) {
        return tl::unexpected(std::string(workload.name) + " between two processes failed:\n" + text);
    }
    const nlohmann::json& phase = document["phases"][0];
    VerbFigure figure;
    figure.name = workload.name;
    figure.mtu = workload.mtu;
    figure.payload_bytes = std::min(workload.message_bytes, workload.mtu);
    figure.rate.messages = phase["messages"].get<std::uint64_t>();
    figure.rate.bytes = figure.rate.messages * workload.message_bytes;
    figure.rate.seconds = static_cast<double>(figure.rate.messages) / phase["messages_per_s"].get<double>();
    return figure;
}

}  // namespace

tl::expected<std::vector<VerbFigure>, std::string> measure_with_daemon(const std::string& programs,
                                                                       double seconds) {
    const Directory directory;
    const std::string config = directory.path + "/bench.json";
    write_config(config);
    const std::string rocemd = programs + "/daemon/rocemd";
    if (!fs::exists(rocemd)) return tl::unexpected(rocemd + " is not there");
    Program daemon({rocemd, "--config", config, "--socket", directory.path + "/d.sock"});
    if (!daemon.says("ready")) return tl::unexpected(std::string("rocemd did not start"));
    std::vector<VerbFigure> figures;
    for (const Workload& workload : bench_workloads()) {
        auto figure =
            measure_one(programs + "/tools/rocem-pingpong/rocem-pingpong", directory, workload, seconds);
        if (!figure) return tl::unexpected(figure.error());
        figures.push_back(*figure);
    }
    return figures;
}

}  // namespace rocem::tools
