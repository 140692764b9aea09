// What a worker blocks on: doorbells, port descriptors, the command waker, full event sockets, a time limit.
#pragma once

#include <cstdint>

#include "ipc/unique_fd.hpp"
#include "queue_engine/time.hpp"

namespace rocem::daemon {

// Every descriptor is armed edge-triggered and never read here: a doorbell is shared with a client, whose
// O_NONBLOCK cannot be trusted (decision 8). A worker looks at everything after each wake, so an edge is
// enough.
class Sleeper {
 public:
    Sleeper();

    bool valid() const { return static_cast<bool>(epoll_); }

    // False if the kernel refuses (no memory, too many watches).
    bool add(int fd);
    // Wakes when a socket that was full has room again.
    bool add_writable(int fd);
    void remove(int fd);

    // Until a descriptor has an edge or the limit is over. Duration::max() is no limit.
    void wait(engine::Duration limit);

 private:
    bool watch(int fd, std::uint32_t events);

    ipc::UniqueFd epoll_;
};

}  // namespace rocem::daemon
