#include "tools/rocem-check/report_json.hpp"

namespace rocem::tools {
namespace {

using Json = nlohmann::ordered_json;

Json findings_json(const std::vector<Finding>& findings, Profile profile) {
    Json list = Json::array();
    for (const Finding& finding : findings) {
        list.push_back({{"kind", finding.deviation ? "deviation" : "violation"},
                        {"name", finding.name(profile)},
                        {"frames", finding.frames},
                        {"text", finding.text},
                        {"rule", rule_info(finding.rule).sentence}});
    }
    return list;
}

template <class Value>
void put(Json& json, const char* key, const std::optional<Value>& value) {
    if (value) json[key] = *value;
}

void put(Json& json, const char* key, const std::optional<std::chrono::nanoseconds>& time) {
    if (time) json[key] = time->count();
}

Json gap_json(const Gap& gap) {
    Json json = {{"psn", gap.psn.value()}, {"repaired", gap.repaired}};
    put(json, "seen_frame", gap.seen_frame);
    put(json, "nak_frame", gap.nak_frame);
    put(json, "resend_frame", gap.resend_frame);
    put(json, "gap_to_nak_ns", gap.gap_to_nak);
    put(json, "nak_to_resend_ns", gap.nak_to_resend);
    return json;
}

Json counters_json(const ConnectionCounters& counters) {
    return {{"requests", counters.requests},
            {"answers", counters.answers},
            {"messages", counters.messages},
            {"packet_seq_err", counters.packet_seq_err},
            {"local_ack_timeout_err", counters.local_ack_timeout_err},
            {"implied_nak_seq_err", counters.implied_nak_seq_err},
            {"rnr_nak_retry", counters.rnr_nak_retry},
            {"out_of_sequence", counters.out_of_sequence},
            {"sequence_naks", counters.sequence_naks},
            {"rnr_naks", counters.rnr_naks},
            {"fatal_naks", counters.fatal_naks},
            {"icrc_errors", counters.icrc_errors},
            {"copies", counters.copies},
            {"lost_before_tap", counters.lost_before_tap}};
}

Json connection_json(const ConnectionReport& connection, Profile profile) {
    Json json = {{"service", protocol::service_name(connection.service)},
                 {"requester", connection.requester.to_string()},
                 {"responder", connection.responder.to_string()},
                 {"responder_qpn", connection.responder_qpn.value()}};
    if (connection.requester_qpn) json["requester_qpn"] = connection.requester_qpn->value();
    put(json, "mtu", connection.mtu);
    json["first_frame"] = connection.first_frame;
    json["last_frame"] = connection.last_frame;
    json["counters"] = counters_json(connection.counters);
    put(json, "shortest_timeout_ns", connection.shortest_timeout);
    json["gaps"] = Json::array();
    for (const Gap& gap : connection.gaps)
        json["gaps"].push_back(gap_json(gap));
    json["findings"] = findings_json(connection.findings, profile);
    return json;
}

}  // namespace

Json report_json(const std::string& file, const Report& report) {
    Json json = {{"file", file}};
    json["connections"] = Json::array();
    for (const ConnectionReport& connection : report.connections)
        json["connections"].push_back(connection_json(connection, report.profile));
    json["findings"] = findings_json(report.findings, report.profile);
    json["answers_without_requests"] = report.answers_without_requests;
    json["datagrams"] = report.datagrams;
    json["cnps"] = report.cnps;
    json["counts"] = counts_json(CheckCounts::of(report));
    return json;
}

Json counts_json(const CheckCounts& counts) {
    return {{"frames", counts.frames},
            {"connections", counts.connections},
            {"requests", counts.requests},
            {"violations", counts.violations},
            {"deviations", counts.deviations}};
}

}  // namespace rocem::tools
