// What the engine answered against what the peer answered.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/rocem-replay/player.hpp"

namespace rocem::tools {

enum class Verdict : std::uint8_t { equal, different, explained, not_compared };

struct Finding {
    Verdict verdict = Verdict::equal;
    std::optional<std::size_t> ours;   // index into Play::answers
    std::optional<std::size_t> peers;  // index into the capture
    std::string why;                   // empty for equal
};

// In the order of the answers. file: the capture's name without its folder, for the table of deviations.
std::vector<Finding> compare(const Capture& capture, const Connection& connection,
                             const ResponderSetup& setup, const Play& play, std::string_view file);

}  // namespace rocem::tools
