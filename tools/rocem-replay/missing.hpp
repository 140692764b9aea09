// Why an answer that the engine gave may be missing from a capture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/rocem-replay/player.hpp"

namespace rocem::tools {

// Whether two answers say the same; msn is added to ours.
bool same_answer(const protocol::RocePacket& ours, const protocol::RocePacket& peers, protocol::Msn msn);

class MissingAnswers {
 public:
    MissingAnswers(const Capture& capture, const Connection& connection, const ResponderSetup& setup);

    // The explanation, or an empty text if there is none.
    std::string explain(const OurAnswer& answer) const;

 private:
    struct Read {
        std::size_t at = 0;
        protocol::Psn psn;
        std::uint32_t psn_count = 0;
    };

    bool has_copy(const OurAnswer& answer) const;
    bool asked_again(const OurAnswer& answer) const;
    bool acknowledged_later(const OurAnswer& answer) const;
    bool nothing_passes(const OurAnswer& answer) const;

    const Capture& capture_;
    const ResponderSetup& setup_;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> answers_by_psn_;
    std::unordered_map<std::uint32_t, std::size_t> last_request_by_psn_;  // READs not included
    std::vector<Read> reads_;
    // The furthest PSN among the frames from this index on, requests' last PSNs included; and the furthest
    // that a positive answer from there on acknowledges.
    std::map<std::size_t, protocol::Psn> furthest_;
    std::map<std::size_t, protocol::Psn> acknowledged_;
};

}  // namespace rocem::tools
