// Where the engine deliberately answers otherwise than a captured peer: one short table, each entry with its
// rule and the captures it applies to. What is not in it is a difference.
#pragma once

#include <initializer_list>
#include <string_view>

#include "protocol/packet.hpp"
#include "tools/rocem-replay/setup.hpp"

namespace rocem::tools {

// Two answers that are not equal, or one that only the peer gave (ours is null).
struct Disagreement {
    const protocol::RocePacket* ours = nullptr;
    const protocol::RocePacket* peers = nullptr;
    const protocol::RocePacket* request = nullptr;         // what ours answers
    const protocol::RocePacket* previous_peers = nullptr;  // the peer's answers before and after this one
    const protocol::RocePacket* next_peers = nullptr;
    const ResponderSetup* setup = nullptr;
};

struct Deviation {
    std::string_view name;
    std::string_view rule;                          // why the engine does as it does, with its clause
    std::initializer_list<std::string_view> files;  // names without their folder
    bool (*applies)(const Disagreement&);
};

// The entry that covers the disagreement in a capture of this name, or nullptr.
const Deviation* find_deviation(std::string_view file, const Disagreement& disagreement);

}  // namespace rocem::tools
