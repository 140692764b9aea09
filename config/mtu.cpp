#include "config/mtu.hpp"

namespace rocem::config {

std::uint32_t required_interface_mtu(protocol::PathMtu path_mtu) {
    return path_mtu.bytes() + packet_overhead_bytes_max;
}

std::uint32_t largest_frame_bytes(protocol::PathMtu path_mtu) {
    return path_mtu.bytes() + frame_overhead_bytes_max;
}

std::optional<protocol::PathMtu> active_mtu_for_interface(std::uint32_t interface_mtu_bytes) {
    std::optional<protocol::PathMtu> largest;
    for (const std::uint32_t bytes : {256, 512, 1024, 2048, 4096}) {
        const auto mtu = protocol::PathMtu::from_bytes(bytes);
        if (required_interface_mtu(*mtu) <= interface_mtu_bytes) largest = mtu;
    }
    return largest;
}

}  // namespace rocem::config
