#include "ipc/control_codec.hpp"

#include <algorithm>

namespace rocem::ipc {
namespace {

template <class Request, class Reply>
constexpr CommandShape shape(MessageType type, const char* name, std::uint32_t reply_fds = 0) {
    return {type, name, sizeof(Request), sizeof(Reply), reply_fds};
}

using Bare = rocem_abi_bare;
using Object = rocem_abi_object_request;

// Index: the type's number - 1.
constexpr std::array commands = {
    shape<rocem_abi_hello_request, rocem_abi_hello_reply>(MessageType::hello, "hello"),
    shape<rocem_abi_list_nics_request, rocem_abi_list_nics_reply>(MessageType::list_nics, "list_nics"),
    shape<rocem_abi_open_nic_request, rocem_abi_open_nic_reply>(MessageType::open_nic, "open_nic", 5),
    shape<rocem_abi_query_port_request, rocem_abi_query_port_reply>(MessageType::query_port, "query_port"),
    shape<rocem_abi_query_gid_request, rocem_abi_query_gid_reply>(MessageType::query_gid, "query_gid"),
    shape<Bare, rocem_abi_alloc_pd_reply>(MessageType::alloc_pd, "alloc_pd"),
    shape<Object, Bare>(MessageType::dealloc_pd, "dealloc_pd"),
    shape<rocem_abi_alloc_memory_request, rocem_abi_alloc_memory_reply>(MessageType::alloc_memory,
                                                                        "alloc_memory", 1),
    shape<Object, Bare>(MessageType::free_memory, "free_memory"),
    shape<rocem_abi_reg_mr_request, rocem_abi_reg_mr_reply>(MessageType::reg_mr, "reg_mr"),
    shape<Object, Bare>(MessageType::dereg_mr, "dereg_mr"),
    shape<Bare, rocem_abi_create_channel_reply>(MessageType::create_channel, "create_channel", 1),
    shape<Object, Bare>(MessageType::destroy_channel, "destroy_channel"),
    shape<rocem_abi_create_cq_request, rocem_abi_create_cq_reply>(MessageType::create_cq, "create_cq", 1),
    shape<Object, Bare>(MessageType::destroy_cq, "destroy_cq"),
    shape<rocem_abi_create_qp_request, rocem_abi_create_qp_reply>(MessageType::create_qp, "create_qp", 1),
    shape<rocem_abi_modify_qp_request, rocem_abi_modify_qp_reply>(MessageType::modify_qp, "modify_qp"),
    shape<Object, rocem_abi_query_qp_reply>(MessageType::query_qp, "query_qp"),
    shape<Object, Bare>(MessageType::destroy_qp, "destroy_qp"),
    shape<rocem_abi_management_request, rocem_abi_management_reply>(MessageType::management, "management", 1),
};

constexpr bool table_is_in_order() {
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (static_cast<std::size_t>(commands[i].type) != i + 1) return false;
        if (commands[i].request_bytes > ROCEM_ABI_MESSAGE_BYTES_MAX) return false;
        if (commands[i].reply_bytes > ROCEM_ABI_MESSAGE_BYTES_MAX) return false;
        if (commands[i].reply_fds > ROCEM_ABI_FDS_MAX) return false;
    }
    return commands.size() == ROCEM_ABI_MANAGEMENT;
}
static_assert(table_is_in_order());

// What every datagram must be, whoever sent it.
CheckedHeader check_header(std::span<const std::byte> datagram) {
    CheckedHeader checked;
    if (datagram.size() < sizeof(rocem_abi_header)) {
        checked.error = DecodeError::truncated;
        return checked;
    }
    checked.header = read_message<rocem_abi_header>(datagram);
    if (checked.header.bytes != datagram.size()) {
        checked.error =
            checked.header.bytes > datagram.size() ? DecodeError::truncated : DecodeError::wrong_length;
    } else if (find_command(checked.header.type) == nullptr) {
        checked.error = DecodeError::unknown_type;
    } else if (checked.header.reserved != 0) {
        checked.error = DecodeError::reserved_set;
    }
    return checked;
}

}  // namespace

const CommandShape* find_command(std::uint16_t type) {
    if (type == 0 || type > commands.size()) return nullptr;
    return &commands[type - std::size_t{1}];
}

const char* name_of(std::uint16_t type) {
    const CommandShape* command = find_command(type);
    return command == nullptr ? "unknown" : command->name;
}

const char* sentence_of(DecodeError error) {
    switch (error) {
        case DecodeError::none:
            return "the message is well formed";
        case DecodeError::truncated:
            return "the message is cut short";
        case DecodeError::wrong_length:
            return "the message does not have its type's length";
        case DecodeError::unknown_type:
            return "the message's type is not known";
        case DecodeError::reserved_set:
            return "a field of the header that must be zero is not";
        case DecodeError::wrong_reply:
            return "the answer is not to the request";
    }
    return "unknown";
}

CheckedHeader check_request(std::span<const std::byte> datagram) {
    CheckedHeader checked = check_header(datagram);
    if (checked.error != DecodeError::none) return checked;
    if (checked.header.error != 0) {
        checked.error = DecodeError::reserved_set;
    } else if (datagram.size() != find_command(checked.header.type)->request_bytes) {
        checked.error = DecodeError::wrong_length;
    }
    return checked;
}

CheckedHeader check_reply(std::span<const std::byte> datagram, const rocem_abi_header& request) {
    CheckedHeader checked = check_header(datagram);
    if (checked.error != DecodeError::none) return checked;
    if (checked.header.type != request.type || checked.header.request_id != request.request_id) {
        checked.error = DecodeError::wrong_reply;
        return checked;
    }
    const std::size_t expected = checked.header.error != 0 ? sizeof(rocem_abi_refusal)
                                                           : find_command(checked.header.type)->reply_bytes;
    if (datagram.size() != expected) checked.error = DecodeError::wrong_length;
    return checked;
}

rocem_abi_refusal make_refusal(const rocem_abi_header& request, int error, std::string_view reason) {
    auto refusal = make_reply<rocem_abi_refusal>(request);
    refusal.header.error = static_cast<std::uint32_t>(error);
    set_text(refusal.reason, reason);
    return refusal;
}

std::uint16_t agree_on_version(std::uint16_t peer_min, std::uint16_t peer_max, std::uint16_t own_min,
                               std::uint16_t own_max) {
    if (peer_min > peer_max) return 0;
    const std::uint16_t highest = std::min(peer_max, own_max);
    return highest >= std::max(peer_min, own_min) ? highest : std::uint16_t{0};
}

}  // namespace rocem::ipc
