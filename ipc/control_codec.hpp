// Control messages as bytes and as values (abi.h). Both sides read with check_*: whatever the peer sent, only
// a message of a known type and of exactly that type's size is ever looked into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "ipc/abi.h"

namespace rocem::ipc {

enum class MessageType : std::uint16_t {
    hello = ROCEM_ABI_HELLO,
    list_nics = ROCEM_ABI_LIST_NICS,
    open_nic = ROCEM_ABI_OPEN_NIC,
    query_port = ROCEM_ABI_QUERY_PORT,
    query_gid = ROCEM_ABI_QUERY_GID,
    alloc_pd = ROCEM_ABI_ALLOC_PD,
    dealloc_pd = ROCEM_ABI_DEALLOC_PD,
    alloc_memory = ROCEM_ABI_ALLOC_MEMORY,
    free_memory = ROCEM_ABI_FREE_MEMORY,
    reg_mr = ROCEM_ABI_REG_MR,
    dereg_mr = ROCEM_ABI_DEREG_MR,
    create_channel = ROCEM_ABI_CREATE_CHANNEL,
    destroy_channel = ROCEM_ABI_DESTROY_CHANNEL,
    create_cq = ROCEM_ABI_CREATE_CQ,
    destroy_cq = ROCEM_ABI_DESTROY_CQ,
    create_qp = ROCEM_ABI_CREATE_QP,
    modify_qp = ROCEM_ABI_MODIFY_QP,
    query_qp = ROCEM_ABI_QUERY_QP,
    destroy_qp = ROCEM_ABI_DESTROY_QP,
    management = ROCEM_ABI_MANAGEMENT,
};

// What a command consists of.
struct CommandShape {
    MessageType type{};
    const char* name = "";
    std::uint32_t request_bytes = 0;
    std::uint32_t reply_bytes = 0;  // when it succeeds
    std::uint32_t reply_fds = 0;
};

// Nothing for a type that this version does not know.
const CommandShape* find_command(std::uint16_t type);

// "create_qp"; "unknown" for what is none.
const char* name_of(std::uint16_t type);

enum class DecodeError : std::uint8_t {
    none,
    truncated,     // shorter than a header, or than its header says
    wrong_length,  // header.bytes is not the datagram's length, or not the type's size
    unknown_type,
    reserved_set,  // a request with an error, or a reserved field of the header that is not zero
    wrong_reply,   // an answer of another type, or to another request
};

const char* sentence_of(DecodeError error);

struct CheckedHeader {
    DecodeError error = DecodeError::none;
    rocem_abi_header header{};  // valid from `truncated` on as far as bytes were there
};

// A datagram that claims to be a request.
CheckedHeader check_request(std::span<const std::byte> datagram);

// A datagram that claims to answer `request`; either the type's reply or, with header.error set, a refusal.
CheckedHeader check_reply(std::span<const std::byte> datagram, const rocem_abi_header& request);

// The message of a datagram that was checked for this type.
template <class Message>
Message read_message(std::span<const std::byte> datagram) {
    static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= ROCEM_ABI_MESSAGE_BYTES_MAX);
    Message message;
    std::memcpy(&message, datagram.data(), sizeof(message));
    return message;
}

template <class Message>
std::span<const std::byte> bytes_of(const Message& message) {
    return std::as_bytes(std::span(&message, 1));
}

// A zeroed request with its header filled in.
template <class Message>
Message make_request(MessageType type, std::uint32_t request_id) {
    Message message{};
    message.header.bytes = sizeof(Message);
    message.header.type = static_cast<std::uint16_t>(type);
    message.header.request_id = request_id;
    return message;
}

// A zeroed answer to `request`, without an error.
template <class Message>
Message make_reply(const rocem_abi_header& request) {
    Message message{};
    message.header.bytes = sizeof(Message);
    message.header.type = request.type;
    message.header.request_id = request.request_id;
    return message;
}

// error: an errno, not 0. A reason that is too long is cut.
rocem_abi_refusal make_refusal(const rocem_abi_header& request, int error, std::string_view reason);

// Text of a fixed field: up to its first zero byte or its end.
template <std::size_t n>
std::string_view text_in(const char (&field)[n]) {
    const void* zero = std::memchr(field, 0, n);
    return {field, zero == nullptr ? n : static_cast<std::size_t>(static_cast<const char*>(zero) - field)};
}

// False if the text was too long and was cut. The field always ends with a zero byte.
template <std::size_t n>
bool set_text(char (&field)[n], std::string_view text) {
    const std::size_t length = text.size() < n ? text.size() : n - 1;
    std::memset(field, 0, n);
    if (length > 0) std::memcpy(field, text.data(), length);
    return length == text.size();
}

// The highest version in both ranges; 0 if there is none (or a range is upside down).
std::uint16_t agree_on_version(std::uint16_t peer_min, std::uint16_t peer_max,
                               std::uint16_t own_min = ROCEM_ABI_VERSION_MIN,
                               std::uint16_t own_max = ROCEM_ABI_VERSION_MAX);

}  // namespace rocem::ipc
