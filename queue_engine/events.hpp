// Asynchronous events, numbered as libibverbs numbers them (enum ibv_event_type).
#pragma once

#include <cstdint>

#include "queue_engine/handles.hpp"

namespace rocem::engine {

enum class EventType : std::uint8_t {
    cq_error = 0,
    qp_fatal = 1,
    qp_request_error = 2,
    qp_access_error = 3,
    communication_established = 4,
    sq_drained = 5,
    device_fatal = 8,
    port_active = 9,
    port_error = 10,
    gid_change = 18,
};

struct AsyncEvent {
    EventType type = EventType::device_fatal;
    QpHandle qp;  // qp_*, communication_established, sq_drained
    CqHandle cq;  // cq_error
};

}  // namespace rocem::engine
