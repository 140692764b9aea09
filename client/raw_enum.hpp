// C's enumerations as the numbers that they are.
//
// A C program may store any int in a field of an enumeration's type; in C++ even looking at such a value
// through its type is undefined behaviour.
#pragma once

#include <cstring>

namespace rocem::client {

template <class Enum>
unsigned raw_value(const Enum& field) {
    static_assert(sizeof(Enum) == sizeof(unsigned));
    unsigned value = 0;
    std::memcpy(&value, &field, sizeof(value));
    return value;
}

template <class Enum>
void set_raw_value(Enum& field, unsigned value) {
    static_assert(sizeof(Enum) == sizeof(unsigned));
    std::memcpy(&field, &value, sizeof(value));
}

}  // namespace rocem::client
