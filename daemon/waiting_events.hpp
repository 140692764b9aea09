// Asynchronous events that a client's socket has no room for.
//
// As with the kernel's uverbs: nothing is lost while its object lives, and what was not read goes with the
// object. An event that waits already says all that a second one of its kind could, so there are never more
// than the objects of the session times their kinds of events, and a client that reads none costs nobody
// anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "ipc/abi.h"

namespace rocem::daemon {

enum class EventObject : std::uint8_t { nic, cq, qp };

class WaitingEvents {
 public:
    bool empty() const { return in_order_.empty(); }
    std::size_t size() const { return in_order_.size(); }

    // The same type of the same object that waits already keeps its place.
    void add(EventObject object, const rocem_abi_async_event& event);

    // The object was destroyed, or has been through RESET.
    void forget(EventObject object, std::uint32_t slot);

    // The oldest; not empty.
    const rocem_abi_async_event& front() const { return in_order_.begin()->second.event; }
    void pop_front();
    void clear();

 private:
    using Key = std::tuple<EventObject, std::uint32_t, std::uint32_t>;  // object, slot, type
    struct Waiting {
        Key key;
        rocem_abi_async_event event;
    };

    std::map<std::uint64_t, Waiting> in_order_;  // by the number of their arrival
    std::map<Key, std::uint64_t> by_object_;
    std::uint64_t next_ = 0;
};

}  // namespace rocem::daemon
