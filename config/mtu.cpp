#include "config/mtu.hpp"

namespace rocem::config {

std::uint32_t required_interface_mtu(protocol::PathMtu path_mtu) {
    return protocol::bytes(path_mtu) + packet_overhead_bytes_max;
}

std::uint32_t largest_frame_bytes(protocol::PathMtu path_mtu) {
    return protocol::bytes(path_mtu) + frame_overhead_bytes_max;
}

std::optional<protocol::PathMtu> active_mtu_for_interface(std::uint32_t interface_mtu_bytes) {
    using protocol::PathMtu;
    for (const PathMtu mtu :
         {PathMtu::mtu_4096, PathMtu::mtu_2048, PathMtu::mtu_1024, PathMtu::mtu_512, PathMtu::mtu_256})
        if (required_interface_mtu(mtu) <= interface_mtu_bytes) return mtu;
    return std::nullopt;
}

}  // namespace rocem::config
