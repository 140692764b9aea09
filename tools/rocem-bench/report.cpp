#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace rocem::tools {

std::optional<double> BenchFigures::ceiling(std::uint32_t payload_bytes) const {
    const auto found = std::find_if(ceilings.begin(), ceilings.end(), [&](const CeilingFigure& figure) {
        return figure.payload_bytes == payload_bytes;
    });
    if (found == ceilings.end()) return std::nullopt;
    return found->rate.gigabits_per_second();
}

namespace {

constexpr double million = 1e6;

std::optional<double> ratio(const BenchFigures& figures, const VerbFigure& verb) {
    const auto ceiling = figures.ceiling(verb.payload_bytes);
    if (!ceiling) return std::nullopt;
    return verb.rate.gigabits_per_second() / *ceiling;
}

void print_ceilings(std::ostream& out, const BenchFigures& figures) {
    if (figures.ceilings.empty()) return;
    out << "ceiling: copy + ICRC on each side, net_ring, no protocol, one core\n";
    out << fmt::format("  {:<24}{:>12}{:>12}\n", "payload of a frame", "Gb/s", "Mframes/s");
    for (const CeilingFigure& figure : figures.ceilings) {
        out << fmt::format("  {:<24}{:>12.2f}{:>12.3f}\n", fmt::format("{} B", figure.payload_bytes),
                           figure.rate.gigabits_per_second(), figure.rate.frames_per_second() / million);
    }
}

void print_verbs(std::ostream& out, const BenchFigures& figures, const std::vector<VerbFigure>& verbs,
                 const char* title) {
    if (verbs.empty()) return;
    out << title;
    out << fmt::format("  {:<16}{:>8}{:>12}{:>14}{:>12}\n", "verb", "MTU", "Gb/s", "messages/s",
                       "of ceiling");
    for (const VerbFigure& figure : verbs) {
        const auto of_ceiling = ratio(figures, figure);
        out << fmt::format("  {:<16}{:>8}{:>12.2f}{:>14.0f}{:>12}\n", figure.name, figure.mtu,
                           figure.rate.gigabits_per_second(), figure.rate.messages_per_second(),
                           of_ceiling ? fmt::format("{:.2f}", *of_ceiling) : "-");
    }
}

void print_costs(std::ostream& out, const BenchFigures& figures) {
    if (figures.costs.empty()) return;
    out << "a packet costs\n";
    out << fmt::format("  {:<24}{:>14}{:>12}\n", "", "instructions", "ns");
    for (const CostFigure& figure : figures.costs) {
        out << fmt::format("  {:<24}{:>14}{:>12.1f}\n", figure.name,
                           figure.instructions ? fmt::format("{:.0f}", *figure.instructions) : "-",
                           figure.nanoseconds);
    }
    if (!figures.why_no_instructions.empty()) {
        out << fmt::format(
            "  instructions cannot be counted here ({}); tools/rocem-bench/callgrind.sh counts them\n",
            figures.why_no_instructions);
    }
}

nlohmann::ordered_json rate_json(const Rate& rate) {
    return {{"gigabits_per_second", rate.gigabits_per_second()},
            {"messages_per_second", rate.messages_per_second()},
            {"frames_per_second", rate.frames_per_second()},
            {"seconds", rate.seconds}};
}

nlohmann::ordered_json verbs_json(const BenchFigures& figures, const std::vector<VerbFigure>& verbs) {
    auto rows = nlohmann::ordered_json::array();
    for (const VerbFigure& figure : verbs) {
        auto row = rate_json(figure.rate);
        row["verb"] = figure.name;
        row["mtu"] = figure.mtu;
        if (const auto of_ceiling = ratio(figures, figure)) row["ratio_to_ceiling"] = *of_ceiling;
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

void print_bench_table(std::ostream& out, const BenchFigures& figures) {
    print_ceilings(out, figures);
    print_verbs(out, figures, figures.verbs, "engines: two on one thread, joined by the virtual wire\n");
    print_verbs(out, figures, figures.processes, "processes: two clients through rocemd, verified payload\n");
    print_costs(out, figures);
}

void print_bench_json(std::ostream& out, const BenchFigures& figures) {
    nlohmann::ordered_json json;
    json["ceiling"] = nlohmann::ordered_json::array();
    for (const CeilingFigure& figure : figures.ceilings) {
        auto row = rate_json(figure.rate);
        row["payload_bytes"] = figure.payload_bytes;
        json["ceiling"].push_back(row);
    }
    json["engines"] = verbs_json(figures, figures.verbs);
    json["processes"] = verbs_json(figures, figures.processes);
    json["packet"] = nlohmann::ordered_json::array();
    for (const CostFigure& figure : figures.costs) {
        nlohmann::ordered_json row = {{"step", figure.name}, {"nanoseconds", figure.nanoseconds}};
        if (figure.instructions) row["instructions"] = *figure.instructions;
        json["packet"].push_back(row);
    }
    if (!figures.why_no_instructions.empty()) json["instructions_not_counted"] = figures.why_no_instructions;
    out << json.dump() << '\n';
}

}  // namespace rocem::tools
