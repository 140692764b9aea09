#include "daemon/nic/interface_facts.hpp"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "ipc/unique_fd.hpp"

namespace rocem::daemon {

tl::expected<InterfaceFacts, std::string> interface_facts(const std::string& name) {
    const auto error = [&name](const char* what) {
        return tl::unexpected("interface " + name + ": " + what + ": " + std::strerror(errno));
    };
    ifreq request{};
    if (name.size() >= sizeof request.ifr_name) {
        errno = ENAMETOOLONG;
        return error("no such name");
    }
    name.copy(request.ifr_name, name.size());
    const ipc::UniqueFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket_fd) return error("no socket to ask about it");
    InterfaceFacts facts;
    if (ioctl(socket_fd.get(), SIOCGIFMTU, &request) != 0)
        return error("not found in this network namespace");
    facts.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
    if (ioctl(socket_fd.get(), SIOCGIFFLAGS, &request) != 0) return error("its flags cannot be read");
    facts.up = (request.ifr_flags & IFF_UP) != 0;
    return facts;
}

}  // namespace rocem::daemon
