// The two programs. Both return what to print on success, and throw Failure.
#pragma once

#include <string>

#include "options.hpp"

namespace rocem::tools {

// Prints "ready HOST:PORT" (or the path) when a client may come; serves one.
std::string run_server(const Options& options);

std::string run_client(const Options& options);

}  // namespace rocem::tools
