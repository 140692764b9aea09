// rocem-bench: what one core allows, what the engine makes of it, what a packet costs.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "ceiling.hpp"
#include "costs.hpp"
#include "daemon/nic/dpdk_environment.hpp"
#include "options.hpp"
#include "pair.hpp"
#include "report.hpp"
#include "with_daemon.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint32_t memory_mib = 128;
constexpr std::uint32_t pool_frames = 4096;
constexpr std::uint32_t frame_capacity = 4352;  // a full frame at MTU 4096, and headers
constexpr int failed = 1;

std::uint32_t full_payload(const Workload& workload) {
    return std::min(workload.message_bytes, workload.mtu);
}

void measure_ceilings(const BenchOptions& options, daemon::FramePool& pool, BenchFigures& figures) {
    for (const Workload& workload : bench_workloads()) {
        const std::uint32_t payload = full_payload(workload);
        if (!figures.ceiling(payload))
            figures.ceilings.push_back(measure_ceiling(payload, options.seconds, pool));
    }
}

BenchFigures measure_all(const BenchOptions& options) {
    auto environment = daemon::DpdkEnvironment::create(memory_mib);
    if (!environment) throw std::runtime_error(environment.error());
    auto pool = daemon::FramePool::create("bench", pool_frames, frame_capacity);
    if (!pool) throw std::runtime_error(pool.error());

    BenchFigures figures;
    if (options.wants("ceiling")) measure_ceilings(options, **pool, figures);
    if (options.wants("engines")) {
        for (const Workload& workload : bench_workloads()) {
            figures.verbs.push_back({workload.name, workload.mtu, full_payload(workload),
                                     measure(workload, options.seconds, **pool)});
        }
    }
    if (options.with_daemon) {
        // build/tools/rocem-bench/rocem-bench: the other programs lie beside it.
        const auto program = std::filesystem::read_symlink("/proc/self/exe");
        const auto build = program.parent_path().parent_path().parent_path();
        auto processes = measure_with_daemon(build.string(), options.seconds);
        if (!processes) throw std::runtime_error(processes.error());
        figures.processes = std::move(*processes);
    }
    if (options.wants("instructions")) {
        Costs costs = measure_costs(options.packets, **pool);
        figures.costs = std::move(costs.figures);
        figures.why_no_instructions = std::move(costs.why_no_instructions);
    }
    return figures;
}

}  // namespace
}  // namespace rocem::tools

int main(int argc, char** argv) {
    using namespace rocem::tools;
    int exit_status = 0;
    const auto options = parse_bench_options(argc, argv, exit_status);
    if (!options) return exit_status;
    try {
        const BenchFigures figures = measure_all(*options);
        if (options->json) {
            print_bench_json(std::cout, figures);
        } else {
            print_bench_table(std::cout, figures);
        }
    } catch (const std::exception& error) {
        std::cerr << "rocem-bench: " << error.what() << std::endl;
        return failed;
    }
    return exit_status;
}
