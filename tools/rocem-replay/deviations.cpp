#include "tools/rocem-replay/deviations.hpp"

#include <algorithm>

#include "protocol/syndrome.hpp"

namespace rocem::tools {
namespace {

using protocol::NakCode;
using protocol::Operation;
using protocol::Position;
using protocol::RocePacket;
using protocol::Syndrome;

bool is_acknowledge(const RocePacket* roce, std::uint8_t syndrome) {
    return roce != nullptr && roce->info->operation == Operation::acknowledge &&
           roce->aeth.syndrome == syndrome;
}

bool is_nak(const RocePacket* roce, NakCode code) {
    return is_acknowledge(roce, Syndrome::nak(code).raw());
}

bool is_rnr_nak(const RocePacket* roce) {
    return roce != nullptr && roce->info->operation == Operation::acknowledge &&
           Syndrome(roce->aeth.syndrome).kind() == Syndrome::Kind::rnr_nak;
}

bool same_place(const RocePacket* a, const RocePacket* b) {
    return a->bth.psn == b->bth.psn && a->aeth.msn == b->aeth.msn;
}

bool same_bytes(const RocePacket* a, const RocePacket* b) {
    return std::equal(a->payload.begin(), a->payload.end(), b->payload.begin(), b->payload.end());
}

bool send_too_long(const Disagreement& d) {
    return is_nak(d.ours, NakCode::invalid_request) && is_nak(d.peers, NakCode::remote_operational_error) &&
           same_place(d.ours, d.peers) && d.request->info->operation == Operation::send;
}

bool send_only_over_mtu(const Disagreement& d) {
    return is_nak(d.ours, NakCode::invalid_request) && is_acknowledge(d.peers, Syndrome::ack().raw()) &&
           d.ours->bth.psn == d.peers->bth.psn && d.ours->aeth.msn.next() == d.peers->aeth.msn &&
           d.request->info->operation == Operation::send && d.request->info->position == Position::only &&
           d.request->payload.size() > d.setup->mtu.bytes();
}

bool nak_after_rnr_nak(const Disagreement& d) {
    return d.ours == nullptr && is_nak(d.peers, NakCode::psn_sequence_error) &&
           is_rnr_nak(d.previous_peers) && same_place(d.peers, d.previous_peers);
}

bool nak_again(const Disagreement& d) {
    if (d.ours != nullptr || !is_nak(d.peers, NakCode::psn_sequence_error)) return false;
    for (const RocePacket* neighbour : {d.previous_peers, d.next_peers}) {
        if (is_nak(neighbour, NakCode::psn_sequence_error) && same_place(d.peers, neighbour)) return true;
    }
    return false;
}

bool rnr_nak_inside_message(const Disagreement& d) {
    return d.ours == nullptr && is_acknowledge(d.peers, Syndrome::rnr_nak(d.setup->min_rnr_timer).raw()) &&
           is_nak(d.next_peers, NakCode::psn_sequence_error) && same_place(d.peers, d.next_peers);
}

bool re_read_answered_in_the_middle(const Disagreement& d) {
    if (d.ours == nullptr || d.ours->info->operation != Operation::rdma_read_response ||
        d.peers->info->operation != Operation::rdma_read_response) {
        return false;
    }
    const Position ours = d.ours->info->position;
    const Position peers = d.peers->info->position;
    if (d.ours->bth.psn != d.request->bth.psn || d.ours->bth.psn != d.peers->bth.psn ||
        !same_bytes(d.ours, d.peers)) {
        return false;
    }
    if (ours == Position::first) return peers == Position::middle;
    return ours == Position::only && peers == Position::last && d.ours->aeth == d.peers->aeth;
}

bool counts_credits(const Disagreement& d) {
    constexpr std::uint8_t no_credits = 0;
    return d.ours != nullptr && d.ours->info == d.peers->info && d.ours->info->has_aeth &&
           d.ours->aeth.syndrome == Syndrome::ack().raw() && d.peers->aeth.syndrome == no_credits &&
           same_place(d.ours, d.peers) && same_bytes(d.ours, d.peers) &&
           d.ours->atomic_ack_eth == d.peers->atomic_ack_eth;
}

// Section numbers are those of the notes on RoCE v2 that the engine's sources cite.
const Deviation table[] = {
    {"send too long",
     "a SEND that is longer than its receive is an invalid request, NAK 0x61 (rocev2 5.8.5); rxe sends 0x63",
     {"t_send_toolong.pcap"},
     send_too_long},
    {"SEND_ONLY above the MTU",
     "a payload above the path MTU is an invalid request (rocev2 5.3); rxe takes it",
     {"host_rc_req_bigonly.pcap"},
     send_only_over_mtu},
    {"sequence NAK after RNR NAK",
     "after an RNR NAK the responder is silent until the packet comes again (rocev2 5.8.1); the peer sends a "
     "sequence NAK for the packet behind it",
     {"t_rnr.pcap", "host_rc_resp_rnr.pcap"},
     nak_after_rnr_nak},
    {"one NAK per gap",
     "one sequence NAK, then silence until the expected packet comes (rocev2 5.8.1); this peer sends one for "
     "every packet",
     {"host_rc_resp_silent.pcap", "host_rc_resp_rnr.pcap"},
     nak_again},
    {"RNR NAK inside a message",
     "a SEND takes its receive with its first packet (rocev2 5.8.4), so its last one is never refused; this "
     "peer refuses it, and for the engine, which is not given that packet, it is a gap",
     {"host_rc_resp_rnr.pcap"},
     rnr_nak_inside_message},
    {"READ resumed at the gap",
     "a READ asked for again from its middle is answered FIRST … or ONLY (rocev2 5.8.2); rxe answers MIDDLE "
     "… "
     "LAST",
     {"t_loss_read.pcap"},
     re_read_answered_in_the_middle},
    {"credits",
     "the engine does not count credits (syndrome 0x1f, rocev2 5.4); this peer grants none",
     {"host_rc_resp_credits0.pcap"},
     counts_credits},
};

}  // namespace

const Deviation* find_deviation(std::string_view file, const Disagreement& disagreement) {
    for (const Deviation& entry : table) {
        if (std::find(entry.files.begin(), entry.files.end(), file) != entry.files.end() &&
            entry.applies(disagreement)) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace rocem::tools
