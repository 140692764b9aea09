#include "client/fork.hpp"

#include <pthread.h>

#include <mutex>
#include <set>

namespace rocem::client {
namespace {

// pthread_atfork's handlers take no argument: the one list of this process that cannot be an object's.
struct Registry {
    std::mutex mutex;
    std::set<Context*> contexts;
};

Registry& registry() {
    static Registry* const instance = new Registry;  // never destroyed: a fork may come during exit
    return *instance;
}

void before_fork() {
    registry().mutex.lock();
}
void after_fork_in_parent() {
    registry().mutex.unlock();
}

// Other threads' locks may be held for ever in here: nothing but the registry, flags and close(2).
void after_fork_in_child() {
    for (Context* context : registry().contexts) {
        context->connection.abandon();
        context->doorbell.reset();
        context->event_socket.reset();
        for (Channel* channel : context->channels)
            channel->socket.reset();
    }
    registry().contexts.clear();
    registry().mutex.unlock();
}

}  // namespace

void watch_forks(Context& context) {
    static std::once_flag once;
    std::call_once(once, [] { ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); });
    const std::lock_guard lock(registry().mutex);
    registry().contexts.insert(&context);
}

void unwatch_forks(Context& context) {
    const std::lock_guard lock(registry().mutex);
    registry().contexts.erase(&context);
}

void watch_forks(Channel& channel) {
    const std::lock_guard lock(registry().mutex);
    context_of(channel.context).channels.insert(&channel);
}

void unwatch_forks(Channel& channel) {
    const std::lock_guard lock(registry().mutex);
    context_of(channel.context).channels.erase(&channel);
}

}  // namespace rocem::client
