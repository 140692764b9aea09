// rocem-pingpong: two programs that exchange verified data, and what it took.
#include <cstdio>
#include <exception>

#include "failure.hpp"
#include "options.hpp"
#include "sides.hpp"

int main(int argc, char** argv) {
    using namespace rocem::tools;
    int exit_status = 0;
    const std::optional<Options> options = parse_options(argc, argv, exit_status);
    if (!options) return exit_status;
    try {
        const std::string result =
            options->role == Role::server ? run_server(*options) : run_client(*options);
        std::fputs(result.c_str(), stdout);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rocem-pingpong: %s\n", error.what());
        return 1;
    }
}
