#include "tools/check/rules.hpp"

#include <array>
#include <cstddef>

namespace rocem::tools {
namespace {

struct Row {
    Rule rule;
    RuleInfo info;
};

// Clauses are those of rocev2.md. The captures' own test peers probe rxe with wrong requests, too: those
// habits stand here like rxe's.
constexpr Row table[] = {
    {Rule::psn_jump, {"psn jump", "each request is the last one's PSN + 1 (5.3)", "", ""}},
    {Rule::resend_without_reason,
     {"resend without reason",
      "a resend follows a NAK of its PSN, or comes T after its last transmission (5.9.1 to 5.9.4)", "", ""}},
    {Rule::resend_from_wrong_psn,
     {"resend from wrong psn", "go-back-N starts at the PSN that the NAK names (5.9.4)", "", ""}},
    {Rule::resend_before_rnr_timer,
     {"resend before rnr timer", "after an RNR NAK the requester waits the timer's value (5.9.3)", "", ""}},
    {Rule::late_timeout,
     {"late timeout", "a timeout comes at latest 4 T after the last progress (5.9.1)",
      "timeout later than 4 T", ""}},
    {Rule::retries_without_end,
     {"retries without end", "retry_cnt 7 is seven retries (5.9.2)", "retry_cnt 7 is endless", ""}},
    {Rule::resend_changed,
     {"resend changed", "a PSN is sent again as it was (5.9.2)", "other request under a used PSN", ""}},
    {Rule::reread_skips,
     {"re-READ skips", "a READ is asked for again from its first missing response (5.9.7)", "", ""}},
    {Rule::reread_wrong,
     {"re-READ wrong", "a READ from the gap moves its va and shortens its length by what came (5.9.7)", "",
      ""}},
    {Rule::opcode_sequence,
     {"opcode sequence", "FIRST, MIDDLE …, LAST of one operation (5.8.3)", "broken message", ""}},
    {Rule::payload_length,
     {"payload length", "FIRST and MIDDLE carry the MTU, LAST 1 to the MTU (5.3)", "wrong payload length",
      ""}},
    {Rule::only_above_mtu,
     {"ONLY above mtu", "ONLY carries no more than the MTU (5.3)", "ONLY above the MTU", ""}},
    {Rule::reth_length,
     {"RETH length", "a WRITE's payloads add up to its RETH length (5.3)", "WRITE of another length", ""}},
    {Rule::ack_request_missing,
     {"AckReq missing", "the last packet of a message asks for an ACK (5.9.9)", "message without AckReq",
      "message without AckReq"}},
    {Rule::too_many_outstanding,
     {"too many outstanding", "no more READs and atomics than max_rd_atomic (5.9.8)", "", ""}},
    {Rule::request_after_fatal_nak,
     {"request after fatal NAK", "a fatal NAK ends the connection (5.9.5)", "request after a fatal NAK", ""}},
    {Rule::ack_beyond_sent, {"ack beyond sent", "an answer's PSN was sent before (5.8.1)", "", ""}},
    {Rule::gap_acknowledged, {"gap acknowledged", "what did not arrive is not acknowledged (5.8.1)", "", ""}},
    {Rule::ack_backwards, {"ack backwards", "what answers cover never shrinks (5.8.1)", "", ""}},
    {Rule::nak_without_gap,
     {"NAK without gap", "a sequence NAK follows a request from behind the gap (5.8.1)", "", ""}},
    {Rule::nak_of_wrong_psn, {"NAK of wrong psn", "a sequence NAK names the first lost PSN (5.8.1)", "", ""}},
    {Rule::second_nak, {"second NAK", "one sequence NAK a gap (5.8.1)", "NAK for every packet", ""}},
    {Rule::nak_after_rnr_nak,
     {"NAK after RNR NAK", "silence after an RNR NAK until its PSN comes again (5.8.1)",
      "sequence NAK after RNR NAK", ""}},
    {Rule::rnr_nak_again, {"RNR NAK again", "one RNR NAK for each arrival of its PSN (5.8.1)", "", ""}},
    {Rule::answer_after_fatal_nak, {"answer after fatal NAK", "silence after a fatal NAK (5.8.15)", "", ""}},
    {Rule::msn, {"msn", "the MSN counts completed messages, one by one (5.3)", "", ""}},
    {Rule::ack_before_read_response,
     {"ACK before READ response", "an ACK waits for the READ responses before it (5.8.10)", "", ""}},
    {Rule::ack_unasked,
     {"ACK unasked", "an ACK without an AckReq", "ACK for a duplicate without AckReq", "", true}},
    {Rule::read_response_unasked,
     {"READ response unasked", "a READ response's PSN is one of a READ's (5.3)", "", ""}},
    {Rule::read_response_opcode,
     {"READ response opcode", "FIRST, MIDDLE …, LAST, or ONLY, by its place in the READ (5.2)", "", ""}},
    {Rule::read_response_length,
     {"READ response length", "every response but the last carries the MTU, the last one the rest (5.3)", "",
      ""}},
    {Rule::read_response_gap, {"READ response gap", "READ responses are contiguous (5.8.10)", "", ""}},
    {Rule::read_resumed_with_middle,
     {"READ resumed with MIDDLE", "a READ from the gap is answered FIRST … or ONLY (5.8.2)",
      "re-READ answered MIDDLE … LAST", ""}},
    {Rule::atomic_unasked, {"atomic answer unasked", "an atomic's answer has an atomic's PSN (5.3)", "", ""}},
    {Rule::atomic_replay_changed,
     {"atomic replay changed", "a duplicate atomic gets the saved value (5.8.2)", "", ""}},
    {Rule::answer_on_uc, {"answer on UC", "UC has no answers (5.8.3)", "", ""}},
    {Rule::never_repaired,
     {"never repaired", "at the end everything sent is acknowledged and no gap is open", "", ""}},
};

constexpr bool in_order() {
    if (std::size(table) != static_cast<std::size_t>(Rule::count)) return false;
    for (std::size_t i = 0; i < std::size(table); ++i) {
        if (table[i].rule != static_cast<Rule>(i)) return false;
    }
    return true;
}
static_assert(in_order());

}  // namespace

const RuleInfo& rule_info(Rule rule) {
    return table[static_cast<std::size_t>(rule)].info;
}

std::string_view accepted_as(Rule rule, Profile profile) {
    switch (profile) {
        case Profile::spec:
            return {};
        case Profile::rxe:
            return rule_info(rule).rxe;
        case Profile::cx:
            return rule_info(rule).cx;
    }
    return {};
}

}  // namespace rocem::tools
