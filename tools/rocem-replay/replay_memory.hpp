// The responder's memory, as far as a capture shows it: sparse, and it knows which bytes it knows.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "queue_engine/dma.hpp"
#include "tools/rocem-replay/side_file.hpp"

namespace rocem::tools {

// Region numbers are the engine's MrSpec::region.
inline constexpr std::uint64_t receive_region = 0;  // takes everything, keeps nothing
constexpr std::uint64_t region_number(std::size_t index) {
    return index + 1;
}

class ReplayMemory {
 public:
    explicit ReplayMemory(const std::vector<RegionFact>& regions) : regions_(regions) {}

    // Bytes that the peer showed to have stood at va before a request: they fill what is not known yet, or
    // replace it where the application may have changed it.
    void seed(protocol::RKey key, std::uint64_t va, std::span<const std::byte> bytes);

    // Moves the bytes of an operation, as a card would.
    engine::DmaAnswer execute(const engine::DmaOp& op);

 private:
    static constexpr std::size_t page_bytes = 4096;
    struct Page {
        std::array<std::byte, page_bytes> bytes{};
        std::bitset<page_bytes> known;
    };
    struct Cell {
        std::byte& byte;
        std::bitset<page_bytes>::reference known;
    };

    static void fill_initially(Page& page, const RegionFact& region, std::uint64_t start);
    Cell cell(std::uint64_t region, std::uint64_t offset);
    std::uint64_t atomic(const engine::DmaOp& op);

    const std::vector<RegionFact>& regions_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Page> pages_;  // by region and page number
};

}  // namespace rocem::tools
