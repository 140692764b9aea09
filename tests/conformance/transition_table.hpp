// Reads qp_transitions.txt: what rocev2.md 5.10 says about every transition, as masks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "queue_engine/qp_attributes.hpp"

namespace rocem::test {

struct Transition {
    std::uint32_t required = 0;
    std::uint32_t optional = 0;  // without STATE, which is always allowed
};

using TransitionTable = std::map<std::pair<engine::QpState, engine::QpState>, Transition>;

// The rows for one type ("RC"). Throws std::runtime_error on a line that it cannot read or a pair named
// twice.
TransitionTable read_transitions(const std::string& path, const std::string& type);

}  // namespace rocem::test
