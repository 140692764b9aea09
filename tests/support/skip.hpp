// Catch2 2.13 has no SKIP: ROCEM_SKIP says why a test case cannot run here, and it is counted.
#pragma once

#include <string>
#include <string_view>

namespace rocem::test {

// Marks the running test case as skipped. Call it through ROCEM_SKIP, before any assertion.
void mark_skipped(std::string_view reason);

}  // namespace rocem::test

#define ROCEM_SKIP(reason)                  \
    do {                                    \
        ::rocem::test::mark_skipped(reason); \
        return;                             \
    } while (false)
