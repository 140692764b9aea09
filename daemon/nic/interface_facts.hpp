// What the kernel says about a network interface.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace rocem::daemon {

struct InterfaceFacts {
    std::uint32_t mtu = 0;  // bytes, from the IP header on
    bool up = false;
};

// An error says which interface, and what the kernel answered.
tl::expected<InterfaceFacts, std::string> interface_facts(const std::string& name);

}  // namespace rocem::daemon
