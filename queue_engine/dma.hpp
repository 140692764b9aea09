// Payload moves that the engine asks for and never makes itself (ARCHITECTURE.md, decision 2).
//
// The owner takes operations with Engine::poll_dma, moves the bytes, and answers with Engine::handle_dma:
// at once or later, in order within a QP, freely across QPs. Until an operation is answered the owner keeps
// the frame it points into alive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "queue_engine/handles.hpp"

namespace rocem::engine {

enum class DmaKind : std::uint8_t {
    read,          // client memory -> frame
    write,         // frame -> client memory
    compare_swap,  // 8 aligned bytes of client memory, host byte order, atomic for the whole NIC
    fetch_add,
};

// The owner's name for a received frame, echoed in the operations that point into it.
using RxToken = std::uint64_t;

// A frame under construction: the slot number that Engine::poll_transmit gave, <
// EngineSettings::tx_frames_max.
using TxFrameId = std::uint32_t;

struct DmaOp {
    std::uint64_t id = 0;  // echoed in the answer
    DmaKind kind = DmaKind::read;
    // The byte at region_offset + length - 1 must become visible after all others: a client may spin on it
    // (decision 4).
    bool last_byte_last = false;
    QpHandle qp;
    std::uint64_t region = 0;               // MrSpec::region of the MR
    std::uint64_t region_offset = 0;        // from the MR's first byte
    std::uint32_t length = 0;               // bytes; 8 for atomics
    std::byte* to_frame = nullptr;          // read: where the bytes go
    const std::byte* from_frame = nullptr;  // write: where they are
    RxToken rx_token = 0;                   // write, atomics: the frame that from_frame points into
    std::uint64_t compare = 0;              // compare_swap
    std::uint64_t swap_or_add = 0;          // atomics
};

struct DmaAnswer {
    std::uint64_t id = 0;
    bool ok = true;              // false: client memory could not be reached (some bytes may have moved)
    std::uint64_t original = 0;  // atomics: the value before, host byte order
};

}  // namespace rocem::engine
