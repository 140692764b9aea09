#include "daemon/transition_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "queue_engine/qp_transitions.hpp"

namespace rocem::daemon {
namespace {

struct AttributeName {
    std::uint32_t bit;
    const char* name;
};

constexpr std::array<AttributeName, 21> attribute_names{{
    {engine::attr_cur_state, "cur_qp_state"},
    {engine::attr_en_sqd_async_notify, "en_sqd_async_notify"},
    {engine::attr_access_flags, "qp_access_flags"},
    {engine::attr_pkey_index, "pkey_index"},
    {engine::attr_port, "port_num"},
    {engine::attr_qkey, "qkey"},
    {engine::attr_av, "ah_attr"},
    {engine::attr_path_mtu, "path_mtu"},
    {engine::attr_timeout, "timeout"},
    {engine::attr_retry_cnt, "retry_cnt"},
    {engine::attr_rnr_retry, "rnr_retry"},
    {engine::attr_rq_psn, "rq_psn"},
    {engine::attr_max_rd_atomic, "max_rd_atomic"},
    {engine::attr_alt_path, "alt_ah_attr"},
    {engine::attr_min_rnr_timer, "min_rnr_timer"},
    {engine::attr_sq_psn, "sq_psn"},
    {engine::attr_max_dest_rd_atomic, "max_dest_rd_atomic"},
    {engine::attr_path_mig_state, "path_mig_state"},
    {engine::attr_cap, "cap"},
    {engine::attr_dest_qpn, "dest_qp_num"},
    {engine::attr_rate_limit, "rate_limit"},
}};

std::string names_of(std::uint32_t mask) {
    std::string names;
    for (const AttributeName& attribute : attribute_names) {
        if ((mask & attribute.bit) == 0) continue;
        names += (names.empty() ? "" : ", ") + std::string(attribute.name);
        mask &= ~attribute.bit;
    }
    if (mask != 0) names += fmt::format("{}bits {:#x}", names.empty() ? "" : ", ", mask);
    return names;
}

}  // namespace

const char* state_name(engine::QpState state) {
    static constexpr std::array<const char*, 7> names{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return names[static_cast<std::size_t>(state)];
}

std::string explain_refusal(engine::QpType type, engine::QpState from, const engine::QpAttributes& attributes,
                            std::uint32_t mask) {
    if ((mask & engine::attr_cur_state) != 0 && attributes.cur_state != from) {
        return fmt::format("cur_qp_state: {} is not the present state, {}", state_name(attributes.cur_state),
                           state_name(from));
    }
    const engine::QpState to = (mask & engine::attr_state) != 0 ? attributes.state : from;
    const auto masks = engine::transition_masks(type, from, to);
    if (!masks) return fmt::format("qp_state: no transition from {} to {}", state_name(from), state_name(to));
    const std::uint32_t given = mask & ~std::uint32_t{engine::attr_state};
    const std::string way = fmt::format("from {} to {}", state_name(from), state_name(to));
    if (const std::uint32_t missing = masks->required & ~given; missing != 0) {
        return fmt::format("attr_mask: {} is missing {}", names_of(missing), way);
    }
    if (const std::uint32_t extra = given & ~(masks->required | masks->optional); extra != 0) {
        return fmt::format("attr_mask: {} is not allowed {}", names_of(extra), way);
    }
    return fmt::format("attr: a value is refused {}", way);
}

}  // namespace rocem::daemon
