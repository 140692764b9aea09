// The same workloads between two client processes, through rocemd.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "figures.hpp"

namespace rocem::tools {

// programs: the directory that holds daemon/rocemd and tools/rocem-pingpong/rocem-pingpong. Throughput is
// rocem-pingpong's, with verified payload.
tl::expected<std::vector<VerbFigure>, std::string> measure_with_daemon(const std::string& programs,
                                                                       double seconds);

}  // namespace rocem::tools
