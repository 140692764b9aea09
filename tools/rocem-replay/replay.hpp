// One capture, replayed: its connections and what came of each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/rocem-replay/comparison.hpp"

namespace rocem::tools {

struct ReplayCounts {
    std::size_t connections = 0;
    std::size_t requests = 0;  // played
    std::size_t equal = 0;
    std::size_t different = 0;
    std::size_t explained = 0;
    std::size_t not_compared = 0;

    void add(const ReplayCounts& other);
    // "1 connections: 80 requests, 23 answers equal, 0 different, 18 explained, 0 not compared".
    std::string line() const;
    friend bool operator==(const ReplayCounts&, const ReplayCounts&) = default;
};

struct ReplayedConnection {
    Connection connection;
    ResponderSetup setup;
    Play play;
    std::vector<Finding> findings;

    ReplayCounts counts() const;
};

struct Replay {
    Capture capture;
    bool has_side_file = false;
    std::vector<ReplayedConnection> connections;
    std::vector<std::string> notes;  // what was left out, a sentence each

    ReplayCounts counts() const;
};

// name: the capture's file name without its folder.
Replay replay(Capture capture, const std::optional<SideFile>& side_file, std::string_view name);

}  // namespace rocem::tools
