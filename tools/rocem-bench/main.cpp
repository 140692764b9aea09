
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "daemon/nic/dpdk_environment.hpp"
#include "tools/rocem-bench/instructions.hpp"
#include "tools/rocem-bench/measure.hpp"
#include "tools/rocem-bench/with_daemon.hpp"

namespace rocem::tools {
namespace {

constexpr const char* about =
    "Measures, in one run: the ceiling (copy + ICRC of the same bytes on both sides, through net_ring, no "
    "protocol),\n"
    "two engines on the virtual wire on one core, the same between two processes through rocemd, and the "
    "instructions\n"
    "that a packet costs. Ratios to the ceiling travel between machines; the other figures do not.";

constexpr std::uint32_t pool_frames = 2048;
constexpr std::uint32_t pool_frame_bytes = 8192;
constexpr std::uint32_t memory_mib = 64;

struct Options {
    double seconds = 1;
    bool json = false;
    bool with_daemon = false;
    bool instructions = true;
    std::string only;
    std::string step;
    std::uint64_t packets = 0;
};

struct Report {
    std::vector<Figure> ceilings;
    std::vector<Figure> engines;
    std::vector<Figure> processes;
    InstructionCounts instructions;
};

// The ceiling with the frames that a workload's packets are.
double ceiling_for(const Workload& workload, const std::vector<Figure>& ceilings) {
    const std::uint32_t payload = std::min(workload.message_bytes, workload.mtu_bytes);
    const std::string name = "ceiling, " + std::to_string(payload) + " B payload";
    for (const Figure& ceiling : ceilings) {
        if (ceiling.name == name) return ceiling.gigabits_per_s;
    }
    return 0;
}

void set_ratios(std::vector<Figure>& figures, const std::vector<Figure>& ceilings) {
    for (Figure& figure : figures) {
        for (const Workload& workload : workloads) {
            const double ceiling = workload.name == figure.name ? ceiling_for(workload, ceilings) : 0;
            if (ceiling > 0) figure.ceiling_ratio = figure.gigabits_per_s / ceiling;
        }
    }
}

Report run(const Options& options, const std::string& program) {
    const std::chrono::duration<double> duration(options.seconds);
    auto environment = daemon::DpdkEnvironment::create(memory_mib);
    if (!environment) throw std::runtime_error(environment.error());
    auto pool = daemon::FramePool::create("bench", pool_frames, pool_frame_bytes);
    if (!pool) throw std::runtime_error(pool.error());
    Report report;
    for (const std::uint32_t payload : {64u, 1024u, 4096u}) {
        report.ceilings.push_back(measure_ceiling(payload, **pool, duration));
    }
    for (const Workload& workload : workloads) {
        if (std::string(workload.name).find(options.only) == std::string::npos) continue;
        report.engines.push_back(measure_engines(workload, **pool, duration));
    }
    set_ratios(report.engines, report.ceilings);
    if (options.with_daemon) {
        const auto build = std::filesystem::path(program).parent_path().parent_path().parent_path();
        auto processes = measure_with_daemon(build.string(), options.seconds);
        if (!processes) throw std::runtime_error(processes.error());
        report.processes = *processes;
        set_ratios(report.processes, report.ceilings);
    }
    if (options.instructions) report.instructions = count_instructions(program);
    return report;
}

void print_figures(const char* title, const std::vector<Figure>& figures, const char* unit) {
    if (figures.empty()) return;
    std::printf("\n%-44s %9s %14s %9s\n", title, "Gb/s", unit, "ceiling");
    for (const Figure& figure : figures) {
        std::printf("%-44s %9.2f %14.0f ", figure.name.c_str(), figure.gigabits_per_s, figure.per_s);
        if (figure.ceiling_ratio > 0) {
            std::printf("%8.0f%%\n", figure.ceiling_ratio * 100);
        } else {
            std::printf("%9s\n", "-");
        }
    }
}

void print(const Report& report) {
    print_figures("copy + ICRC on each side, net_ring, one core", report.ceilings, "frames/s");
    print_figures("two engines, virtual wire, one core", report.engines, "messages/s");
    print_figures("two processes through rocemd, verified", report.processes, "messages/s");
    if (report.instructions.counted_by.empty()) return;
    std::printf("\ninstructions per packet of 1024 B (%s)\n", report.instructions.counted_by.c_str());
    for (const StepCost& cost : report.instructions.steps) {
        std::printf("%-44s %9.0f\n", cost.step.c_str(), cost.instructions_per_packet);
    }
}

nlohmann::json to_json(const std::vector<Figure>& figures) {
    nlohmann::json array = nlohmann::json::array();
    for (const Figure& figure : figures) {
        array.push_back({{"name", figure.name},
                         {"gigabits_per_s", figure.gigabits_per_s},
                         {"per_s", figure.per_s},
                         {"packets_per_s", figure.packets_per_s},
                         {"ceiling_ratio", figure.ceiling_ratio}});
    }
    return array;
}

void print_json(const Report& report) {
    nlohmann::json document = {{"ceilings", to_json(report.ceilings)},
                               {"engines", to_json(report.engines)},
                               {"processes", to_json(report.processes)},
                               {"instructions_counted_by", report.instructions.counted_by},
                               {"instructions_per_packet", nlohmann::json::object()}};
    for (const StepCost& cost : report.instructions.steps) {
        document["instructions_per_packet"][cost.step] = cost.instructions_per_packet;
    }
    std::printf("%s\n", document.dump(2).c_str());
}

// Under valgrind: the work, and how many packets it was.
int run_one_step(const Options& options) {
    const auto packets = run_step(options.step, options.packets);
    if (!packets) {
        std::fprintf(stderr, "rocem-bench: --step: %s is none of decode, encode, icrc, engine\n",
                     options.step.c_str());
        return 2;
    }
    std::printf("packets %llu\n", static_cast<unsigned long long>(*packets));
    return 0;
}

int main_with(int argc, char** argv) {
    Options options;
    CLI::App app{about, "rocem-bench"};
    app.add_option("--seconds", options.seconds, "for each figure")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--only", options.only, "only workloads with this text in their name");
    app.add_flag("--with-daemon", options.with_daemon, "also between two client processes, through rocemd");
    app.add_flag("!--no-instructions", options.instructions, "do not count instructions");
    app.add_flag("-j,--json", options.json, "print JSON");
    app.add_option("--step", options.step,
                   "run one step only (decode, encode, icrc, engine), to be counted from outside");
    app.add_option("--packets", options.packets, "for --step")->check(CLI::PositiveNumber);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (!options.step.empty()) return run_one_step(options);
    const Report report = run(options, std::filesystem::read_symlink("/proc/self/exe").string());
    if (options.json) {
        print_json(report);
    } else {
        print(report);
    }
    return 0;
}

}  // namespace
}  // namespace rocem::tools

int main(int argc, char** argv) {
    try {
        return rocem::tools::main_with(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rocem-bench: %s\n", error.what());
        return 1;
    }
}
