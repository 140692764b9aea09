// What a refused command or post answers: the errno that verbs return (ibv_modify_qp(3), ibv_post_send(3)).
#pragma once

#include <cerrno>
#include <tl/expected.hpp>

namespace rocem::engine {

enum class Error : int {
    none = 0,
    invalid = EINVAL,    // an argument, attribute mask or state that does not allow this
    no_memory = ENOMEM,  // a queue or table is full
    busy = EBUSY,        // other objects still use this one
    not_found = ENOENT,  // the handle names nothing
    not_supported = EOPNOTSUPP,
};

template <class T>
using Expected = tl::expected<T, Error>;

}  // namespace rocem::engine
