// The rules by name: one list, with the sentence behind each and whose known habit it is to break it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/check/options.hpp"

namespace rocem::tools {

enum class Rule : std::uint8_t {
    // requester
    psn_jump,
    resend_without_reason,
    resend_from_wrong_psn,
    resend_before_rnr_timer,
    late_timeout,
    retries_without_end,
    resend_changed,
    reread_skips,
    reread_wrong,
    opcode_sequence,
    payload_length,
    only_above_mtu,
    reth_length,
    ack_request_missing,
    too_many_outstanding,
    request_after_fatal_nak,
    // responder
    ack_beyond_sent,
    gap_acknowledged,
    ack_backwards,
    nak_without_gap,
    nak_of_wrong_psn,
    second_nak,
    nak_after_rnr_nak,
    rnr_nak_again,
    answer_after_fatal_nak,
    msn,
    ack_before_read_response,
    ack_unasked,
    read_response_unasked,
    read_response_opcode,
    read_response_length,
    read_response_gap,
    read_resumed_with_middle,
    atomic_unasked,
    atomic_replay_changed,
    answer_on_uc,
    // either
    never_repaired,
    count,
};

struct RuleInfo {
    std::string_view name;
    std::string_view sentence;  // what the rule demands, with its clause
    std::string_view rxe;       // the deviation's name under Profile::rxe; empty: a violation
    std::string_view cx;        // under Profile::cx
    bool habit_only = false;    // not forbidden: named under a profile that knows it, otherwise silent
};

const RuleInfo& rule_info(Rule rule);

// The deviation's name, or nothing if breaking the rule is a violation under this profile.
std::string_view accepted_as(Rule rule, Profile profile);

}  // namespace rocem::tools
