// The small JSON file beside a capture (t_rnr.json beside t_rnr.pcap): what a capture cannot tell. Its format
// is described in docs/replay.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "protocol/ids.hpp"
#include "protocol/psn.hpp"
#include "protocol/units.hpp"

namespace rocem::tools {

// Registered memory of the responder.
struct RegionFact {
    std::uint64_t va = 0;
    std::uint64_t length = 0;  // bytes
    protocol::RKey r_key;
    std::uint32_t access = 0;              // engine::AccessFlags
    std::vector<std::byte> initial_bytes;  // from va on, when the capture begins; empty: not known
    bool initial_bytes_repeat = true;      // otherwise zeros follow them
    bool changed_by_application = false;   // its bytes change without a packet
};

struct ReceiveFact {
    std::uint64_t count = 0;
    std::uint32_t length = 0;      // bytes of each
    std::size_t before_frame = 0;  // posted before the responder got this frame
};

enum class AckHabit : std::uint8_t {
    when_requested,  // an ACK for every AckReq
    every_packet,
    coalesced,  // one ACK may stand for several (rocev2 5.8.11)
};

// One responder. What is not given is inferred from the capture.
struct ResponderFacts {
    protocol::Qpn qpn;
    std::optional<protocol::Gid> address;  // where both sides use the same QPN
    bool absent = false;                   // there is no such QP
    bool answers_lost = false;             // the link before the capture loses answers
    AckHabit acks = AckHabit::when_requested;
    std::set<std::size_t> not_received;  // numbers of request frames that the responder did not take
    std::optional<protocol::PathMtu> mtu;
    std::optional<protocol::Psn> expected_psn;  // when the capture begins
    std::optional<protocol::Msn> msn;           // when the capture begins
    std::optional<std::uint32_t> access;        // of the QP, engine::AccessFlags
    std::optional<std::uint8_t> max_dest_rd_atomic;
    std::optional<std::uint8_t> min_rnr_timer;
    std::optional<std::vector<RegionFact>> regions;
    std::optional<std::vector<ReceiveFact>> receives;
};

struct SideFile {
    std::string command;
    bool cut = false;  // frames are missing at the end of the capture
    std::vector<ResponderFacts> responders;

    const ResponderFacts* find(const protocol::Gid& address, protocol::Qpn qpn) const;
};

// An error is one line for each thing that is wrong: "/responders/0/mtu: expected …, found …".
tl::expected<SideFile, std::string> parse_side_file(std::string_view text);

// The side file's path for a capture's: the last extension replaced by .json.
std::string side_file_path(const std::string& capture_path);

// Nothing if there is no such file; an error if there is one that cannot be used.
tl::expected<std::optional<SideFile>, std::string> read_side_file(const std::string& capture_path);

}  // namespace rocem::tools
