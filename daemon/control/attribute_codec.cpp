#include "daemon/control/attribute_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace rocem::daemon {
namespace {

using Message = rocem_abi_qp_attributes;

constexpr std::uint32_t psn_or_qpn_max = 0xffffff;
constexpr std::uint32_t flow_label_max = 0xfffff;
constexpr std::uint32_t known_access = engine::access_local_write | engine::access_remote_write |
                                       engine::access_remote_read | engine::access_remote_atomic;
// enum ibv_access_flags keeps bits 20 to 29 for hints that a device may ignore.
constexpr std::uint32_t optional_access = 0x3ff00000;

struct Range {
    std::uint32_t mask;
    const char* field;
    std::uint32_t value;
    std::uint32_t max;
};

std::optional<std::string> check_ranges(const Message& m, std::uint32_t mask, const NicView& nic) {
    const std::uint32_t rd_atomic_max = nic.engine.limits.max_qp_rd_atom;
    const std::array<Range, 12> ranges{{
        {engine::attr_state, "qp_state", m.state, static_cast<std::uint32_t>(engine::QpState::error)},
        {engine::attr_cur_state, "cur_qp_state", m.cur_state,
         static_cast<std::uint32_t>(engine::QpState::error)},
        {engine::attr_pkey_index, "pkey_index", m.pkey_index,
         static_cast<std::uint32_t>(nic.engine.pkey_table.size() - 1)},
        {engine::attr_timeout, "timeout", m.timeout, 31},
        {engine::attr_retry_cnt, "retry_cnt", m.retry_cnt, 7},
        {engine::attr_rnr_retry, "rnr_retry", m.rnr_retry, 7},
        {engine::attr_min_rnr_timer, "min_rnr_timer", m.min_rnr_timer, 31},
        {engine::attr_max_rd_atomic, "max_rd_atomic", m.max_rd_atomic, rd_atomic_max},
        {engine::attr_max_dest_rd_atomic, "max_dest_rd_atomic", m.max_dest_rd_atomic, rd_atomic_max},
        {engine::attr_rq_psn, "rq_psn", m.rq_psn, psn_or_qpn_max},
        {engine::attr_sq_psn, "sq_psn", m.sq_psn, psn_or_qpn_max},
        {engine::attr_dest_qpn, "dest_qp_num", m.dest_qpn, psn_or_qpn_max},
    }};
    for (const Range& range : ranges) {
        if ((mask & range.mask) != 0 && range.value > range.max) {
            return fmt::format("{}: {} is above {}", range.field, range.value, range.max);
        }
    }
    return std::nullopt;
}

std::optional<std::string> check_address(const rocem_abi_address_vector& av, const NicView& nic) {
    if (av.is_global == 0) return "ah_attr.is_global: 0 is refused, an address on Ethernet needs a GRH";
    if (av.sgid_index >= nic.engine.gid_table.size() || nic.engine.gid_table[av.sgid_index].is_zero()) {
        return fmt::format("ah_attr.grh.sgid_index: entry {} of the GID table is empty", av.sgid_index);
    }
    if (av.flow_label > flow_label_max) {
        return fmt::format("ah_attr.grh.flow_label: {:#x} has more than 20 bits", av.flow_label);
    }
    protocol::Gid dgid;
    std::copy(std::begin(av.dgid), std::end(av.dgid), dgid.bytes.begin());
    if (dgid.is_zero() || dgid.is_multicast()) {
        return fmt::format("ah_attr.grh.dgid: {} is not the address of one port", dgid.to_string());
    }
    if (dgid.is_ipv4_mapped() != nic.engine.gid_table[av.sgid_index].is_ipv4_mapped()) {
        return fmt::format("ah_attr.grh.dgid: {} is not of the same IP version as sgid_index {} ({})",
                           dgid.to_string(), av.sgid_index, nic.engine.gid_table[av.sgid_index].to_string());
    }
    return std::nullopt;
}

engine::AddressVector read_address(const rocem_abi_address_vector& message) {
    engine::AddressVector av;
    std::copy(std::begin(message.dgid), std::end(message.dgid), av.dgid.bytes.begin());
    av.flow_label = message.flow_label;
    av.sgid_index = message.sgid_index;
    av.hop_limit = message.hop_limit;
    av.traffic_class = message.traffic_class;
    av.sl = message.sl;
    av.is_global = true;
    return av;
}

}  // namespace

tl::expected<engine::QpAttributes, std::string> read_attributes(const Message& message, std::uint32_t mask,
                                                                const NicView& nic) {
    if (auto problem = check_ranges(message, mask, nic)) return tl::unexpected(*problem);
    engine::QpAttributes attributes;
    if ((mask & engine::attr_av) != 0) {
        if (auto problem = check_address(message.av, nic)) return tl::unexpected(*problem);
        attributes.av = read_address(message.av);
    }
    if ((mask & engine::attr_path_mtu) != 0) {
        const auto path_mtu = protocol::PathMtu::from_enum(message.path_mtu);
        if (!path_mtu)
            return tl::unexpected(fmt::format("path_mtu: {} is not one of 1 to 5", message.path_mtu));
        if (*path_mtu > nic.engine.active_mtu) {
            return tl::unexpected(fmt::format("path_mtu: {} is above the port's active_mtu {}",
                                              path_mtu->bytes(), nic.engine.active_mtu.bytes()));
        }
        attributes.path_mtu = *path_mtu;
    }
    if ((mask & engine::attr_port) != 0 && message.port_num != 1) {
        return tl::unexpected(fmt::format("port_num: {} is not 1", message.port_num));
    }
    if ((mask & engine::attr_access_flags) != 0 &&
        (message.access_flags & ~(known_access | optional_access)) != 0) {
        return tl::unexpected(fmt::format("qp_access_flags: {:#x} has bits that a QP does not take",
                                          message.access_flags & ~(known_access | optional_access)));
    }
    attributes.state = static_cast<engine::QpState>(message.state);
    attributes.cur_state = static_cast<engine::QpState>(message.cur_state);
    attributes.en_sqd_async_notify = message.en_sqd_async_notify != 0;
    attributes.access_flags = message.access_flags & known_access;
    attributes.pkey_index = message.pkey_index;
    attributes.port_num = message.port_num;
    attributes.timeout = message.timeout;
    attributes.retry_cnt = message.retry_cnt;
    attributes.rnr_retry = message.rnr_retry;
    attributes.min_rnr_timer = message.min_rnr_timer;
    attributes.max_rd_atomic = message.max_rd_atomic;
    attributes.max_dest_rd_atomic = message.max_dest_rd_atomic;
    attributes.rq_psn = protocol::Psn(message.rq_psn);
    attributes.sq_psn = protocol::Psn(message.sq_psn);
    attributes.dest_qpn = protocol::Qpn(message.dest_qpn);
    return attributes;
}

Message write_attributes(const engine::QpAttributes& attributes) {
    Message message{};
    std::copy(attributes.av.dgid.bytes.begin(), attributes.av.dgid.bytes.end(), std::begin(message.av.dgid));
    message.av.flow_label = attributes.av.flow_label;
    message.av.sgid_index = attributes.av.sgid_index;
    message.av.hop_limit = attributes.av.hop_limit;
    message.av.traffic_class = attributes.av.traffic_class;
    message.av.sl = attributes.av.sl;
    message.av.is_global = attributes.av.is_global ? 1 : 0;
    message.rq_psn = attributes.rq_psn.value();
    message.sq_psn = attributes.sq_psn.value();
    message.dest_qpn = attributes.dest_qpn.value();
    message.access_flags = attributes.access_flags;
    message.pkey_index = attributes.pkey_index;
    message.state = static_cast<std::uint8_t>(attributes.state);
    message.cur_state = static_cast<std::uint8_t>(attributes.cur_state);
    message.path_mtu = attributes.path_mtu.enum_value();
    message.en_sqd_async_notify = attributes.en_sqd_async_notify ? 1 : 0;
    message.sq_draining = attributes.sq_draining ? 1 : 0;
    message.max_rd_atomic = attributes.max_rd_atomic;
    message.max_dest_rd_atomic = attributes.max_dest_rd_atomic;
    message.min_rnr_timer = attributes.min_rnr_timer;
    message.port_num = attributes.port_num;
    message.timeout = attributes.timeout;
    message.retry_cnt = attributes.retry_cnt;
    message.rnr_retry = attributes.rnr_retry;
    return message;
}

}  // namespace rocem::daemon
