#include "show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "table.hpp"

namespace rocem::tools {
namespace {

using nlohmann::json;

// A member as a cell; "-" where the daemon has nothing to say.
std::string cell(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return "-";
    return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string duration_text(double seconds) {
    const auto whole = static_cast<long>(seconds);
    if (whole < 60) return fmt::format("{:.1f} s", seconds);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string mebibytes(const json& bytes) {
    return fmt::format("{:.1f} MiB", bytes.get<double>() / (1024.0 * 1024.0));
}

void append_counters(std::string& text, const json& group, const char* title, bool all) {
    std::size_t width = 0;
    for (const auto& [name, value] : group.items()) {
        if (all || value != 0) width = std::max(width, name.size());
    }
    if (width == 0) return;
    text += fmt::format("  {}\n", title);
    for (const auto& [name, value] : group.items()) {
        if (all || value != 0) text += fmt::format("    {:<{}}  {}\n", name, width, value.dump());
    }
}

}  // namespace

std::string show_status(const json& answer) {
    std::string text =
        fmt::format("rocemd {}, process {}, up {}, socket {}\n\n", cell(answer, "version"),
                    cell(answer, "pid"), duration_text(answer.at("uptime_seconds")), cell(answer, "socket"));
    Table workers({"worker", "nics", "turns", "busy", "sleeps"});
    for (const json& worker : answer.at("workers")) {
        std::string names;
        for (const json& nic : worker.at("nics")) {
            names += (names.empty() ? "" : ",") + nic.get<std::string>();
        }
        workers.add({cell(worker, "name"), names, cell(worker, "turns"), cell(worker, "busy_turns"),
                     cell(worker, "sleeps")});
    }
    text += workers.text();
    text += '\n';
    const json& sessions = answer.at("sessions");
    if (sessions.empty()) return text + "no sessions\n";
    Table table({"session", "pid", "uid", "nic", "qps", "cqs", "mrs", "memory"});
    for (const json& session : sessions) {
        table.add({cell(session, "id"), cell(session, "pid"), cell(session, "uid"), cell(session, "nic"),
                   cell(session, "qps"), cell(session, "cqs"), cell(session, "mrs"),
                   mebibytes(session.at("memory_bytes"))});
    }
    return text + table.text();
}

std::string show_nics(const json& answer) {
    std::string text;
    for (const json& nic : answer.at("nics")) {
        if (!text.empty()) text += '\n';
        const json& port = nic.at("port");
        text += fmt::format("{}: {}, port {} {}\n", cell(nic, "name"), cell(nic, "state"), cell(port, "type"),
                            cell(port, "attached_to"));
        text += fmt::format("  mac {}, node guid {}, active mtu {}, worker {}\n", cell(nic, "mac"),
                            cell(nic, "node_guid"), cell(nic, "active_mtu"), cell(nic, "worker"));
        std::size_t index = 0;
        for (const json& gid : nic.at("gids")) {
            text += fmt::format("  gid {} {}\n", index++, gid.get<std::string>());
        }
    }
    return text;
}

std::string show_qps(const json& answer) {
    const json& qps = answer.at("qps");
    if (qps.empty()) return "no queue pairs\n";
    Table table({"nic", "qpn", "state", "pid", "dest qpn", "remote", "mtu", "rq psn", "sq psn"});
    for (const json& qp : qps) {
        table.add({cell(qp, "nic"), cell(qp, "qpn"), cell(qp, "state"), cell(qp, "pid"), cell(qp, "dest_qpn"),
                   cell(qp, "remote_gid"), cell(qp, "path_mtu"), cell(qp, "rq_psn"), cell(qp, "sq_psn")});
    }
    return table.text();
}

std::string show_counters(const json& answer, bool all) {
    std::string text;
    for (const json& nic : answer.at("nics")) {
        text += fmt::format("{}\n", cell(nic, "name"));
        append_counters(text, nic.at("counters"), "engine", all);
        append_counters(text, nic.at("drops"), "frames dropped", all);
        append_counters(text, nic.at("port"), "port", all);
    }
    return text;
}

}  // namespace rocem::tools
