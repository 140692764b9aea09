// Counters that anybody may look at without asking: a page that only the daemon can write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ipc/layout.hpp"
#include "ipc/shared_region.hpp"

namespace rocem::daemon {

class CountersPage {
 public:
    // Labels longer than ROCEM_ABI_LABEL_BYTES - 1 are cut. valid() is false when the kernel had no memory.
    explicit CountersPage(const std::vector<std::string>& labels);

    bool valid() const { return static_cast<bool>(region_); }
    int descriptor() const { return region_.fd.get(); }
    std::size_t bytes() const { return region_.mapping.size(); }
    std::size_t count() const { return labels_.size(); }
    const std::vector<std::string>& labels() const { return labels_; }

    // One writer; any reader at any time.
    void set(std::size_t index, std::uint64_t value);
    std::uint64_t get(std::size_t index) const;

 private:
    std::vector<std::string> labels_;
    ipc::SharedRegion region_;
    std::uint64_t* values_ = nullptr;
};

}  // namespace rocem::daemon
