#include "daemon/control/management.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "daemon/transition_text.hpp"

namespace rocem::daemon {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> subjects{"status", "nics", "qps", "counters"};

std::string guid_text(std::uint64_t guid) {
    return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff, guid >> 16 & 0xffff,
                       guid & 0xffff);
}

ordered_json port_json(const config::PortSettings& port) {
    if (const auto* wire = std::get_if<config::VirtualWirePort>(&port)) {
        return {{"type", "virtual_wire"}, {"attached_to", wire->wire}};
    }
    return {{"type", "af_packet"}, {"attached_to", std::get<config::AfPacketPort>(port).interface}};
}

bool is_shown(std::optional<NicIndex> only, std::size_t index) {
    return !only || *only == index;
}

std::map<SessionId, SessionFacts> sessions_by_id(const Services& services) {
    std::map<SessionId, SessionFacts> by_id;
    for (SessionFacts& facts : services.directory->sessions())
        by_id.emplace(facts.id, std::move(facts));
    return by_id;
}

}  // namespace

tl::expected<ManagementQuestion, std::string> parse_question(std::string_view text,
                                                             const Services& services) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    ManagementQuestion question;
    std::size_t index = 0;
    while (index < subjects.size() && subjects[index] != word)
        ++index;
    if (index == subjects.size()) {
        return tl::unexpected(
            fmt::format("question: expected status, nics, qps or counters, found \"{}\"", word));
    }
    question.subject = static_cast<Subject>(index);
    if (blank == std::string_view::npos) return question;
    const std::string_view name = text.substr(blank + 1);
    for (NicIndex nic = 0; nic < services.nics.size(); ++nic) {
        if (services.nics[nic].settings.name == name) question.nic = nic;
    }
    if (!question.nic) return tl::unexpected(fmt::format("nic: there is no NIC named \"{}\"", name));
    return question;
}

std::string status_text(const Services& services) {
    ordered_json answer;
    answer["version"] = services.version;
    answer["pid"] = ::getpid();
    answer["uptime_seconds"] =
        std::chrono::duration<double>(services.clock->now() - services.started_at).count();
    answer["socket"] = services.socket_path;
    answer["workers"] = ordered_json::array();
    for (std::size_t i = 0; i < services.workers.size(); ++i) {
        const WorkerView& worker = services.workers[i];
        ordered_json names = ordered_json::array();
        for (const NicView& nic : services.nics) {
            if (nic.worker == i) names.push_back(nic.settings.name);
        }
        const WorkerLoad& load = worker.link->load;
        answer["workers"].push_back({{"name", worker.name},
                                     {"nics", names},
                                     {"turns", load.turns.load(std::memory_order_relaxed)},
                                     {"busy_turns", load.busy_turns.load(std::memory_order_relaxed)},
                                     {"sleeps", load.sleeps.load(std::memory_order_relaxed)}});
    }
    answer["sessions"] = ordered_json::array();
    for (const SessionFacts& session : services.directory->sessions()) {
        if (session.nic.empty()) continue;  // a tool that asks, such as this one's reader
        answer["sessions"].push_back({{"id", session.id},
                                      {"pid", session.pid},
                                      {"uid", session.uid},
                                      {"program", session.program},
                                      {"nic", session.nic},
                                      {"qps", session.qps},
                                      {"cqs", session.cqs},
                                      {"mrs", session.mrs},
                                      {"memory_bytes", session.memory_bytes}});
    }
    return answer.dump(2) + "\n";
}

std::string nics_text(const Services& services, std::optional<NicIndex> only) {
    ordered_json answer{{"nics", ordered_json::array()}};
    for (std::size_t i = 0; i < services.nics.size(); ++i) {
        if (!is_shown(only, i)) continue;
        const NicView& nic = services.nics[i];
        ordered_json gids = ordered_json::array();
        for (const protocol::Gid& gid : nic.engine.gid_table)
            gids.push_back(gid.to_string());
        answer["nics"].push_back({{"name", nic.settings.name},
                                  {"state", "active"},
                                  {"mac", nic.settings.mac.to_string()},
                                  {"node_guid", guid_text(nic.settings.node_guid)},
                                  {"active_mtu", nic.engine.active_mtu.bytes()},
                                  {"gids", gids},
                                  {"port", port_json(nic.settings.port)},
                                  {"worker", services.workers[nic.worker].name}});
    }
    return answer.dump(2) + "\n";
}

std::string counters_text(const Services& services, std::optional<NicIndex> only) {
    ordered_json answer{{"nics", ordered_json::array()}};
    for (std::size_t i = 0; i < services.nics.size(); ++i) {
        if (!is_shown(only, i)) continue;
        const CountersPage& page = *services.nics[i].counters;
        // "drops.icrc_mismatch" is icrc_mismatch of the group drops; a name without a group is the engine's.
        ordered_json groups{{"counters", ordered_json::object()},
                            {"drops", ordered_json::object()},
                            {"port", ordered_json::object()}};
        for (std::size_t c = 0; c < page.count(); ++c) {
            const std::string& label = page.labels()[c];
            const std::size_t dot = label.find('.');
            if (dot == std::string::npos) {
                groups["counters"][label] = page.get(c);
            } else {
                groups[label.substr(0, dot)][label.substr(dot + 1)] = page.get(c);
            }
        }
        ordered_json nic{{"name", services.nics[i].settings.name}};
        nic.update(groups);
        answer["nics"].push_back(nic);
    }
    return answer.dump(2) + "\n";
}

std::string qps_text(const Services& services, std::optional<NicIndex> only,
                     const std::vector<QpFacts>& qps) {
    const std::map<SessionId, SessionFacts> sessions = sessions_by_id(services);
    ordered_json answer{{"qps", ordered_json::array()}};
    for (const QpFacts& qp : qps) {
        if (!is_shown(only, qp.nic)) continue;
        const engine::QpAttributes& attributes = qp.attributes;
        ordered_json entry{{"nic", services.nics[qp.nic].settings.name},
                           {"qpn", qp.qpn.value()},
                           {"state", state_name(attributes.state)},
                           {"session", qp.session},
                           {"pid", nullptr}};
        if (const auto session = sessions.find(qp.session); session != sessions.end()) {
            entry["pid"] = session->second.pid;
        }
        const bool connected =
            attributes.state != engine::QpState::reset && attributes.state != engine::QpState::init;
        if (connected) {
            entry["dest_qpn"] = attributes.dest_qpn.value();
            entry["remote_gid"] = attributes.av.dgid.to_string();
            entry["path_mtu"] = attributes.path_mtu.bytes();
            entry["rq_psn"] = attributes.rq_psn.value();
            entry["sq_psn"] = attributes.sq_psn.value();
        }
        answer["qps"].push_back(entry);
    }
    return answer.dump(2) + "\n";
}

}  // namespace rocem::daemon
