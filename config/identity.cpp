#include "config/identity.hpp"

#include <algorithm>

namespace rocem::config {

std::uint64_t eui64(const protocol::MacAddress& mac) {
    constexpr std::uint8_t universal_local_bit = 0x02;
    const auto& m = mac.bytes;
    std::uint64_t id = 0;
    for (const unsigned byte :
         {m[0] ^ universal_local_bit, int{m[1]}, int{m[2]}, 0xff, 0xfe, int{m[3]}, int{m[4]}, int{m[5]}})
        id = (id << 8) | byte;
    return id;
}

protocol::Gid link_local_gid(const protocol::MacAddress& mac) {
    protocol::Gid gid{{0xfe, 0x80}};
    const std::uint64_t id = eui64(mac);
    for (std::size_t i = 0; i < 8; ++i)
        gid.bytes[8 + i] = static_cast<std::uint8_t>(id >> (56 - 8 * i));
    return gid;
}

std::vector<protocol::Gid> gid_table(const NicSettings& nic) {
    std::vector<protocol::Gid> gids;
    const auto add = [&](const protocol::Gid& gid) {
        if (std::find(gids.begin(), gids.end(), gid) == gids.end()) gids.push_back(gid);
    };
    if (nic.gid_link_local) add(link_local_gid(nic.mac));
    for (const InterfaceAddress& address : nic.addresses)
        add(address.gid);
    if (nic.gid_ipv4_first)
        std::stable_partition(gids.begin(), gids.end(),
                              [](const protocol::Gid& gid) { return gid.is_ipv4_mapped(); });
    return gids;
}

}  // namespace rocem::config
