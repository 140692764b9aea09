#include "config/check.hpp"

#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/address_text.hpp"
#include "config/identity.hpp"
#include "config/mtu.hpp"

namespace rocem::config {
namespace {

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t tpacket_alignment_bytes = 16;

std::string nic_path(std::size_t index) {
    return "/nics/" + std::to_string(index);
}

// Remembers where each value stood first.
class Unique {
 public:
    Unique(ConfigErrors& errors, std::string what) : errors_(errors), what_(std::move(what)) {}

    void add(const std::string& value, const std::string& path) {
        const auto [place, is_new] = first_.emplace(value, path);
        if (!is_new)
            errors_.push_back({path, "expected " + what_ + " of its own, found " + value +
                                         " again (also at " + place->second + ")"});
    }

 private:
    ConfigErrors& errors_;
    std::string what_;
    std::map<std::string, std::string> first_;
};

void check_socket(const SocketSettings& socket, ConfigErrors& errors) {
    if (socket.path.empty()) return;
    constexpr std::size_t length_max = sizeof(sockaddr_un::sun_path) - 1;
    if (socket.path.front() != '/' || socket.path.back() == '/')
        errors.push_back(
            {"/socket/path", "expected the absolute path of a socket, found \"" + socket.path + "\""});
    if (socket.path.size() > length_max)
        errors.push_back({"/socket/path", "expected at most " + std::to_string(length_max) +
                                              " bytes, found " + std::to_string(socket.path.size())});
}

void check_workers(const DaemonSettings& settings, ConfigErrors& errors) {
    Unique names(errors, "a name");
    Unique cpus(errors, "a CPU");
    for (std::size_t i = 0; i < settings.workers.size(); ++i) {
        const WorkerSettings& worker = settings.workers[i];
        const std::string path = "/workers/" + std::to_string(i);
        names.add(worker.name, path + "/name");
        if (worker.cpu) cpus.add(std::to_string(*worker.cpu), path + "/cpu");
    }
}

void check_unique(const std::vector<NicSettings>& nics, ConfigErrors& errors) {
    Unique names(errors, "a name");
    Unique macs(errors, "a MAC address");
    Unique addresses(errors, "an address");
    Unique guids(errors, "a GUID");
    Unique interfaces(errors, "an interface");
    Unique files(errors, "a file");
    for (std::size_t i = 0; i < nics.size(); ++i) {
        const NicSettings& nic = nics[i];
        const std::string path = nic_path(i);
        names.add(nic.name, path + "/name");
        macs.add(nic.mac.to_string(), path + "/mac");
        if (nic.node_guid != eui64(nic.mac)) guids.add(std::to_string(nic.node_guid), path + "/node_guid");
        for (std::size_t a = 0; a < nic.addresses.size(); ++a)
            addresses.add(ip_text(nic.addresses[a].gid), path + "/addresses/" + std::to_string(a));
        if (const auto* port = std::get_if<AfPacketPort>(&nic.port))
            interfaces.add(port->interface, path + "/port/interface");
        if (!nic.captures.wire.empty()) files.add(nic.captures.wire, path + "/captures/wire");
        if (!nic.captures.engine.empty()) files.add(nic.captures.engine, path + "/captures/engine");
    }
}

void check_wires(const std::vector<NicSettings>& nics, ConfigErrors& errors) {
    std::map<std::string, std::vector<std::size_t>> ends;
    for (std::size_t i = 0; i < nics.size(); ++i)
        if (const auto* port = std::get_if<VirtualWirePort>(&nics[i].port)) ends[port->wire].push_back(i);
    for (const auto& [wire, indices] : ends) {
        if (indices.size() == 2) continue;
        for (const std::size_t i : indices)
            errors.push_back({nic_path(i) + "/port/wire", "expected two NICs on a virtual wire, found " +
                                                              std::to_string(indices.size()) + " on \"" +
                                                              wire + "\""});
    }
}

void check_mac(const NicSettings& nic, const std::string& path, ConfigErrors& errors) {
    if (nic.mac.is_multicast() || nic.mac.is_zero())
        errors.push_back({path + "/mac", "expected a unicast MAC address, found " + nic.mac.to_string()});
}

// What may not be a host's own address, or nothing.
const char* unfit_address(const InterfaceAddress& address) {
    const protocol::Gid& gid = address.gid;
    if (gid.is_zero() || (gid.is_ipv4_mapped() && gid.as_ipv4().is_zero())) return "the unspecified address";
    if (!gid.is_ipv4_mapped()) return gid.is_multicast() ? "a multicast address" : nullptr;

    const auto bytes = gid.as_ipv4().bytes;
    const std::uint32_t host = (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
                               (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
    if (bytes[0] == 0) return "an address of \"this network\"";
    if (bytes[0] == 127) return "a loopback address";
    if (bytes[0] >= 224) return "a multicast or reserved address";
    if (address.prefix_length > 30) return nullptr;  // RFC 3021: both ends of a /31 are hosts
    const std::uint32_t host_mask = 0xffffffffU >> address.prefix_length;
    if ((host & host_mask) == 0) return "the network's own address";
    if ((host & host_mask) == host_mask) return "the network's broadcast address";
    return nullptr;
}

void check_addresses(const NicSettings& nic, const std::string& path, ConfigErrors& errors) {
    for (std::size_t a = 0; a < nic.addresses.size(); ++a) {
        const char* unfit = unfit_address(nic.addresses[a]);
        if (unfit == nullptr) continue;
        errors.push_back({path + "/addresses/" + std::to_string(a),
                          std::string("expected an address of one host, found ") + unfit + ", " +
                              ip_text(nic.addresses[a].gid) + "/" +
                              std::to_string(nic.addresses[a].prefix_length)});
    }
}

void check_gateway(const NicSettings& nic, const std::optional<protocol::Gid>& gateway,
                   const std::string& path, ConfigErrors& errors) {
    if (!gateway) return;
    const auto reaches = [&](const InterfaceAddress& own) {
        return own.gid.is_ipv4_mapped() == gateway->is_ipv4_mapped() && own.gid != *gateway &&
               in_prefix(own, *gateway);
    };
    const bool is_own = std::any_of(nic.addresses.begin(), nic.addresses.end(),
                                    [&](const InterfaceAddress& own) { return own.gid == *gateway; });
    if (!is_own && std::any_of(nic.addresses.begin(), nic.addresses.end(), reaches)) return;
    errors.push_back({path, "expected another host in the network of one of the NIC's addresses, found " +
                                ip_text(*gateway)});
}

void check_af_packet(const AfPacketPort& port, protocol::PathMtu mtu, const std::string& path,
                     ConfigErrors& errors) {
    const std::uint32_t least = largest_frame_bytes(mtu) + af_packet_slot_overhead_bytes;
    if (port.frame_bytes < least)
        errors.push_back({path + "/frame_bytes",
                          "expected at least " + std::to_string(least) + " (path MTU " +
                              std::to_string(mtu.bytes()) + " + headers " +
                              std::to_string(frame_overhead_bytes_max) + " + ring slot " +
                              std::to_string(af_packet_slot_overhead_bytes) +
                              "; larger frames would be cut), found " + std::to_string(port.frame_bytes)});
    if (port.frame_bytes % tpacket_alignment_bytes != 0) {
        errors.push_back({path + "/frame_bytes", "expected a multiple of " +
                                                     std::to_string(tpacket_alignment_bytes) + ", found " +
                                                     std::to_string(port.frame_bytes)});
        return;
    }
    if (port.block_bytes % page_bytes != 0)
        errors.push_back({path + "/block_bytes", "expected a multiple of the page size, " +
                                                     std::to_string(page_bytes) + ", found " +
                                                     std::to_string(port.block_bytes)});
    // DPDK finds slot i at i * frame_bytes: no rest may be left in a block.
    if (port.block_bytes % port.frame_bytes != 0) {
        errors.push_back({path + "/block_bytes", "expected a multiple of frame_bytes, " +
                                                     std::to_string(port.frame_bytes) + ", found " +
                                                     std::to_string(port.block_bytes)});
        return;
    }
    const std::uint32_t frames_per_block = port.block_bytes / port.frame_bytes;
    if (port.frame_count % frames_per_block != 0)
        errors.push_back({path + "/frame_count", "expected a multiple of block_bytes / frame_bytes, " +
                                                     std::to_string(frames_per_block) + ", found " +
                                                     std::to_string(port.frame_count)});
}

void check_nic(const NicSettings& nic, const DaemonSettings& settings, const std::string& path,
               ConfigErrors& errors) {
    check_mac(nic, path, errors);
    check_addresses(nic, path, errors);
    check_gateway(nic, nic.gateway_v4, path + "/gateway_v4", errors);
    check_gateway(nic, nic.gateway_v6, path + "/gateway_v6", errors);
    if (nic.node_guid == 0) errors.push_back({path + "/node_guid", "expected a GUID that is not zero"});
    const bool worker_exists =
        std::any_of(settings.workers.begin(), settings.workers.end(),
                    [&](const WorkerSettings& worker) { return worker.name == nic.worker; });
    if (!worker_exists)
        errors.push_back({path + "/worker", "expected the name of a worker, found \"" + nic.worker + "\""});
    if (nic.ack_request_packets > nic.window_packets)
        errors.push_back({path + "/ack_request_packets",
                          "expected at most window_packets, " + std::to_string(nic.window_packets) +
                              ", found " + std::to_string(nic.ack_request_packets) +
                              ": a full window would wait for an ACK that nobody asked for"});
    if (const auto* port = std::get_if<AfPacketPort>(&nic.port))
        check_af_packet(*port, nic.mtu, path + "/port", errors);
}

}  // namespace

ConfigErrors check_settings(const DaemonSettings& settings) {
    ConfigErrors errors;
    check_socket(settings.socket, errors);
    check_workers(settings, errors);
    for (std::size_t i = 0; i < settings.nics.size(); ++i)
        check_nic(settings.nics[i], settings, nic_path(i), errors);
    check_unique(settings.nics, errors);
    check_wires(settings.nics, errors);
    return errors;
}

}  // namespace rocem::config
