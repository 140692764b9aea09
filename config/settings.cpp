#include "config/settings.hpp"

namespace rocem::config {

std::string default_socket_path(const char* xdg_runtime_dir) {
    const std::string base =
        xdg_runtime_dir != nullptr && *xdg_runtime_dir != '\0' ? xdg_runtime_dir : "/run";
    return base + "/rocem/rocemd.sock";
}

}  // namespace rocem::config
