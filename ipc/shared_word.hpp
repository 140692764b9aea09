// How words of shared memory are touched: always one atomic access, never a plain load that the compiler may
// repeat.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rocem::ipc {

template <class Word>
Word load_shared(const Word& word, std::memory_order order) {
    // atomic_ref<const T> comes with C++26; a load does not write.
    return std::atomic_ref<Word>(const_cast<Word&>(word)).load(order);
}

template <class Word>
void store_shared(Word& word, Word value, std::memory_order order) {
    std::atomic_ref<Word>(word).store(value, order);
}

// The private copy of bytes that the peer may change at any moment: each word is read once, so that what is
// checked is what is used. `from` is aligned to 8 bytes, `bytes` is a multiple of 8.
inline void copy_untrusted(void* to, const void* from, std::size_t bytes) {
    assert(bytes % sizeof(std::uint64_t) == 0);
    const auto* words = static_cast<const std::uint64_t*>(from);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
        const std::uint64_t word = load_shared(words[i], std::memory_order_relaxed);
        std::memcpy(static_cast<std::byte*>(to) + i * sizeof(word), &word, sizeof(word));
    }
}

}  // namespace rocem::ipc
