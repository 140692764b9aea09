#include "queue_engine/responder_checks.hpp"

#include <algorithm>

namespace rocem::engine {

using protocol::Operation;
using protocol::Position;

bool continues_message(IncomingMessage incoming, const protocol::OpcodeInfo& info) {
    if (info.starts_message()) return incoming == IncomingMessage::none;
    return (incoming == IncomingMessage::send && info.operation == Operation::send) ||
           (incoming == IncomingMessage::write && info.operation == Operation::rdma_write);
}

bool is_supported(const protocol::OpcodeInfo& info) {
    return info.operation != Operation::flush && info.operation != Operation::atomic_write && !info.has_ieth;
}

bool access_is_enabled(std::uint32_t access_flags, const protocol::OpcodeInfo& info) {
    switch (info.operation) {
        case Operation::rdma_write:
            return (access_flags & access_remote_write) != 0;
        case Operation::rdma_read_request:
            return (access_flags & access_remote_read) != 0;
        case Operation::compare_swap:
        case Operation::fetch_add:
            return (access_flags & access_remote_atomic) != 0;
        default:
            return true;
    }
}

bool payload_fits(const protocol::RocePacket& roce, std::uint32_t mtu, std::uint64_t message_bytes_max) {
    const std::size_t bytes = roce.payload.size();
    bool fits = false;
    switch (roce.info->payload) {
        case protocol::PayloadRule::none:
            fits = bytes == 0;
            break;
        case protocol::PayloadRule::full:
            fits = bytes == mtu;
            break;
        case protocol::PayloadRule::one_to_mtu:
            fits = bytes >= 1 && bytes <= mtu;
            break;
        case protocol::PayloadRule::zero_to_mtu:
            fits = bytes <= mtu;
            break;
        case protocol::PayloadRule::exactly_8:
            fits = bytes == 8;
            break;
    }
    if (!fits || !roce.info->has_reth) return fits;
    const std::uint32_t announced = roce.reth.dma_length;
    if (announced > message_bytes_max) return false;
    if (roce.info->operation != Operation::rdma_write) return true;
    return roce.info->position == Position::only ? announced == bytes : announced > bytes;
}

std::uint32_t psns_of_request(const protocol::RocePacket& roce, std::uint32_t mtu) {
    if (roce.info->operation != Operation::rdma_read_request) return 1;
    const std::uint64_t length = roce.reth.dma_length;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (length + mtu - 1) / mtu));
}

}  // namespace rocem::engine
