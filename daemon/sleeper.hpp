// What a worker blocks on: doorbells, port descriptors, the command waker, a time limit.
#pragma once

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
    void remove(int fd);

    // Until a descriptor has an edge or the limit is over. Duration::max() is no limit.
    void wait(engine::Duration limit);

 private:
    ipc::UniqueFd epoll_;
};

}  // namespace rocem::daemon
