#include "config/read_settings.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "config/address_text.hpp"
#include "config/identity.hpp"
#include "config/json_text.hpp"

namespace rocem::config {
namespace {

using nlohmann::json;

// The schema has checked types and ranges: a member that is there can be taken.
template <class T>
void read(const json& object, const char* key, T& field) {
    if (object.contains(key)) field = object.at(key).get<T>();
}

template <class T>
void read(const json& object, const char* key, std::optional<T>& field) {
    if (object.contains(key)) field = object.at(key).get<T>();
}

const json& member(const json& object, const char* key) {
    static const json empty = json::object();
    return object.contains(key) ? object.at(key) : empty;
}

LogLevel read_log_level(const std::string& word) {
    constexpr std::array<const char*, 6> words = {"trace", "debug", "info", "warning", "error", "off"};
    std::size_t index = 0;
    while (word != words[index])
        ++index;  // the schema knows no other words
    return static_cast<LogLevel>(index);
}

SocketSettings read_socket(const json& object) {
    SocketSettings socket;
    read(object, "path", socket.path);
    read(object, "group", socket.group);
    if (object.contains("mode")) {
        constexpr int octal = 8;
        socket.mode =
            static_cast<std::uint32_t>(std::stoul(object.at("mode").get<std::string>(), nullptr, octal));
    }
    return socket;
}

WorkerSettings read_worker(const json& object) {
    WorkerSettings worker;
    read(object, "name", worker.name);
    read(object, "cpu", worker.cpu);
    const json& idle = member(object, "idle");
    read(idle, "spin_us", worker.idle.spin_us);
    read(idle, "yield_us", worker.idle.yield_us);
    read(idle, "block", worker.idle.block);
    read(idle, "max_sleep_us", worker.idle.max_sleep_us);
    return worker;
}

LimitSettings read_limits(const json& object) {
    LimitSettings limits;
    read(object, "max_qp", limits.max_qp);
    read(object, "max_qp_wr", limits.max_qp_wr);
    read(object, "max_sge", limits.max_sge);
    read(object, "max_inline_data", limits.max_inline_data);
    read(object, "max_cq", limits.max_cq);
    read(object, "max_cqe", limits.max_cqe);
    read(object, "max_mr", limits.max_mr);
    read(object, "max_pd", limits.max_pd);
    read(object, "max_qp_rd_atom", limits.max_qp_rd_atom);
    read(object, "max_msg_bytes", limits.max_msg_bytes);
    read(object, "sessions_max", limits.sessions_max);
    read(object, "session_memory_bytes_max", limits.session_memory_bytes_max);
    read(object, "session_segments_max", limits.session_segments_max);
    return limits;
}

PortSettings read_port(const json& object) {
    if (object.at("type") == "virtual_wire") return VirtualWirePort{object.at("wire").get<std::string>()};
    AfPacketPort port;
    read(object, "interface", port.interface);
    read(object, "frame_bytes", port.frame_bytes);
    read(object, "block_bytes", port.block_bytes);
    read(object, "frame_count", port.frame_count);
    return port;
}

DirectionFaults read_direction_faults(const json& object) {
    DirectionFaults faults;
    read(object, "loss", faults.loss);
    read(object, "duplicate", faults.duplicate);
    read(object, "reorder", faults.reorder);
    read(object, "reorder_frames", faults.reorder_frames);
    read(object, "corrupt", faults.corrupt);
    read(object, "delay_us", faults.delay_us);
    read(object, "jitter_us", faults.jitter_us);
    return faults;
}

FaultSettings read_faults(const json& object) {
    FaultSettings faults;
    read(object, "seed", faults.seed);
    faults.receive = read_direction_faults(member(object, "receive"));
    faults.transmit = read_direction_faults(member(object, "transmit"));
    return faults;
}

// Reads one NIC; what the schema cannot judge goes to `errors`.
class NicReader {
 public:
    NicReader(const json& object, std::string path, ConfigErrors& errors)
        : object_(object), path_(std::move(path)), errors_(errors) {}

    NicSettings read_nic(const std::string& default_worker) {
        read(object_, "name", nic_.name);
        read_identity();
        read_addresses();
        read_gateway("gateway_v4", true, nic_.gateway_v4);
        read_gateway("gateway_v6", false, nic_.gateway_v6);
        if (object_.contains("mtu"))
            nic_.mtu = *protocol::PathMtu::from_bytes(object_.at("mtu").get<std::uint32_t>());
        read(object_, "gid_link_local", nic_.gid_link_local);
        read(object_, "gid_ipv4_first", nic_.gid_ipv4_first);
        nic_.worker = default_worker;
        read(object_, "worker", nic_.worker);
        read(object_, "mig_req", nic_.mig_req);
        read(object_, "ignore_udp_checksum", nic_.ignore_udp_checksum);
        read(object_, "window_packets", nic_.window_packets);
        nic_.ack_request_packets = std::min(nic_.ack_request_packets, nic_.window_packets);
        read(object_, "ack_request_packets", nic_.ack_request_packets);
        read(object_, "vendor_part_id", nic_.vendor_part_id);
        nic_.port = read_port(object_.at("port"));
        nic_.faults = read_faults(member(object_, "faults"));
        const json& captures = member(object_, "captures");
        read(captures, "wire", nic_.captures.wire);
        read(captures, "engine", nic_.captures.engine);
        return std::move(nic_);
    }

 private:
    void fault(const char* key, const std::string& expected) {
        errors_.push_back(
            {child_path(path_, key), "expected " + expected + ", found " + shown(object_.at(key))});
    }

    void read_identity() {
        nic_.mac = *protocol::MacAddress::from_string(object_.at("mac").get<std::string>());
        nic_.node_guid = eui64(nic_.mac);
        if (object_.contains("node_guid"))
            nic_.node_guid = *parse_guid(object_.at("node_guid").get<std::string>());
    }

    void read_addresses() {
        const json& addresses = object_.at("addresses");
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            if (const auto address = parse_interface_address(addresses.at(i).get<std::string>())) {
                nic_.addresses.push_back(*address);
                continue;
            }
            errors_.push_back({child_path(child_path(path_, "addresses"), std::to_string(i)),
                               "expected an address and its prefix length such as \"10.1.0.1/24\" or "
                               "\"fd00::1/64\", found " +
                                   shown(addresses.at(i))});
        }
    }

    void read_gateway(const char* key, bool ipv4, std::optional<protocol::Gid>& gateway) {
        if (!object_.contains(key)) return;
        gateway = parse_ip(object_.at(key).get<std::string>());
        if (!gateway || gateway->is_ipv4_mapped() != ipv4)
            fault(key,
                  ipv4 ? "an IPv4 address such as \"10.1.0.254\"" : "an IPv6 address such as \"fd00::fe\"");
    }

    const json& object_;
    std::string path_;
    ConfigErrors& errors_;
    NicSettings nic_;
};

}  // namespace

tl::expected<DaemonSettings, ConfigErrors> read_settings(const nlohmann::json& document) {
    DaemonSettings settings;
    settings.socket = read_socket(member(document, "socket"));
    if (document.contains("log_level"))
        settings.log_level = read_log_level(document.at("log_level").get<std::string>());
    read(document, "counters_page", settings.counters_page);
    read(document, "seed", settings.seed);
    if (document.contains("workers")) {
        settings.workers.clear();
        for (const json& worker : document.at("workers"))
            settings.workers.push_back(read_worker(worker));
    }
    read(member(document, "dpdk"), "memory_mib", settings.dpdk.memory_mib);
    settings.limits = read_limits(member(document, "limits"));

    ConfigErrors errors;
    const json& nics = document.at("nics");
    for (std::size_t i = 0; i < nics.size(); ++i) {
        NicReader reader(nics.at(i), "/nics/" + std::to_string(i), errors);
        settings.nics.push_back(reader.read_nic(settings.workers.front().name));
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return settings;
}

}  // namespace rocem::config
