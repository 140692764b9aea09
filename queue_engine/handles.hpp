// Names of engine objects: a slot and the generation that tells its tenants apart. A handle of a
// destroyed object never names its successor.
#pragma once

#include <cstdint>

namespace rocem::engine {

template <class Tag>
struct Handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  // 0 names nothing

    friend constexpr bool operator==(Handle, Handle) = default;
    explicit constexpr operator bool() const { return generation != 0; }
};

using PdHandle = Handle<struct PdTag>;
using MrHandle = Handle<struct MrTag>;
using CqHandle = Handle<struct CqTag>;
using QpHandle = Handle<struct QpTag>;

}  // namespace rocem::engine
