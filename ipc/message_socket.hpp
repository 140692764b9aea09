// One message with its descriptors over a SEQPACKET socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc/abi.h"
#include "ipc/unique_fd.hpp"

namespace rocem::ipc {

enum class Wait : std::uint8_t { block, dont_wait };

enum class Transfer : std::uint8_t {
    done,
    would_block,  // dont_wait only
    closed,       // end of file, or the peer's end is closed
    malformed,    // longer than ROCEM_ABI_MESSAGE_BYTES_MAX, or with more descriptors than ROCEM_ABI_FDS_MAX
    failed,       // errno says why
};

// Descriptors stay the caller's.
Transfer send_message(int socket, std::span<const std::byte> message, std::span<const int> fds, Wait wait);

struct ReceivedMessage {
    std::array<std::byte, ROCEM_ABI_MESSAGE_BYTES_MAX> buffer;
    std::size_t size = 0;
    std::array<UniqueFd, ROCEM_ABI_FDS_MAX> fds;  // close-on-exec; the first fd_count are valid
    std::size_t fd_count = 0;

    std::span<const std::byte> bytes() const { return std::span(buffer).first(size); }
};

// EINTR is waited out. Descriptors that are not taken out of the message close with it.
Transfer receive_message(int socket, ReceivedMessage& message, Wait wait);

}  // namespace rocem::ipc
