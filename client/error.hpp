// How a call of the C API says what was wrong.
#pragma once

#include <cstddef>

namespace rocem::client {

// Remembers the sentence for rocem_last_error() of this thread and returns `error`.
[[gnu::format(printf, 2, 3)]] int fail(int error, const char* format, ...);

// The same for calls that return a pointer: sets errno, too.
[[gnu::format(printf, 2, 3)]] std::nullptr_t fail_null(int error, const char* format, ...);

// For a call that returns a pointer and has failed in a callee that has spoken already.
std::nullptr_t pass_null(int error);

}  // namespace rocem::client
