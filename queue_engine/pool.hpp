// Nodes by index, with a free list. Grows by a chunk when the load reaches a new peak, up to a limit; nodes
// never move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rocem::engine {

inline constexpr std::uint32_t no_node = UINT32_MAX;

template <class Node, std::uint32_t chunk_nodes = 256>
class Pool {
 public:
    // Rounded up to whole chunks.
    explicit Pool(std::uint32_t nodes_max)
        : nodes_max_((nodes_max + chunk_nodes - 1) / chunk_nodes * chunk_nodes) {
        chunks_.reserve(nodes_max_ / chunk_nodes);
    }

    // A node in its initial state, or no_node at the limit.
    std::uint32_t allocate() {
        if (free_.empty() && !grow()) return no_node;
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }

    void release(std::uint32_t index) {
        (*this)[index] = Node{};
        free_.push_back(index);
    }

    std::uint32_t available() const { return nodes_max_ - size() + static_cast<std::uint32_t>(free_.size()); }

    Node& operator[](std::uint32_t index) { return (*chunks_[index / chunk_nodes])[index % chunk_nodes]; }
    const Node& operator[](std::uint32_t index) const {
        return (*chunks_[index / chunk_nodes])[index % chunk_nodes];
    }

 private:
    using Chunk = std::array<Node, chunk_nodes>;

    std::uint32_t size() const { return static_cast<std::uint32_t>(chunks_.size()) * chunk_nodes; }

    bool grow() {
        if (size() == nodes_max_) return false;
        const std::uint32_t first = size();
        chunks_.push_back(std::make_unique<Chunk>());
        free_.reserve(size());
        for (std::uint32_t i = chunk_nodes; i-- > 0;)
            free_.push_back(first + i);
        return true;
    }

    std::uint32_t nodes_max_;
    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::vector<std::uint32_t> free_;
};

}  // namespace rocem::engine
