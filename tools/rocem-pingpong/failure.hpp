// How a run ends early: a sentence, thrown up to main.
#pragma once

#include <stdexcept>
#include <string>

namespace rocem::tools {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The other program closed the exchange.
struct PeerGone : Failure {
    PeerGone() : Failure("the peer has ended") {}
};

}  // namespace rocem::tools
