// One question to the daemon and its answer.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace rocem::tools {

// The JSON text that the daemon at `socket_path` answers to "status", "nics", "qps" or "counters", maybe with
// the name of a NIC behind a blank. The error is a sentence.
tl::expected<std::string, std::string> ask_daemon(const std::string& socket_path,
                                                  const std::string& question);

}  // namespace rocem::tools
