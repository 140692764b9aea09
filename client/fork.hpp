// What happens to this process's contexts when it forks (decision 5).
#pragma once

#include "client/objects.hpp"

namespace rocem::client {

// From now on a forked child finds the context abandoned: descriptors closed, every call ENODEV.
void watch_forks(Context& context);
void unwatch_forks(Context& context);

// The same for a channel of a watched context.
void watch_forks(Channel& channel);
void unwatch_forks(Channel& channel);

}  // namespace rocem::client
