#include "client/error.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "client/rocem.h"

namespace rocem::client {
namespace {

// A thread's own, so that no other thread's failure stands in its place.
thread_local std::array<char, 512> last_error{};

void remember(const char* format, std::va_list arguments) {
    std::vsnprintf(last_error.data(), last_error.size(), format, arguments);
}

}  // namespace

int fail(int error, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    remember(format, arguments);
    va_end(arguments);
    return error;
}

std::nullptr_t fail_null(int error, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    remember(format, arguments);
    va_end(arguments);
    return pass_null(error);
}

std::nullptr_t pass_null(int error) {
    errno = error;
    return nullptr;
}

}  // namespace rocem::client

const char* rocem_last_error() {
    return rocem::client::last_error.data();
}
