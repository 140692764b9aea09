#include "daemon/counters_page.hpp"

#include <algorithm>
#include <cstring>

#include "ipc/shared_word.hpp"

namespace rocem::daemon {

CountersPage::CountersPage(const std::vector<std::string>& labels)
    : labels_(labels),
      region_(ipc::make_region(
          "rocem-counters",
          sizeof(ipc::CountersPage) + labels.size() * (sizeof(std::uint64_t) + ROCEM_ABI_LABEL_BYTES),
          ipc::Writers::maker)) {
    if (!region_) return;
    std::byte* const page = region_.mapping.data();
    auto* const head = reinterpret_cast<ipc::CountersPage*>(page);
    head->magic = ROCEM_ABI_MAGIC;
    head->count = static_cast<std::uint32_t>(labels.size());
    head->values_offset = sizeof(ipc::CountersPage);
    head->labels_offset =
        static_cast<std::uint32_t>(sizeof(ipc::CountersPage) + labels.size() * sizeof(std::uint64_t));
    values_ = reinterpret_cast<std::uint64_t*>(page + head->values_offset);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::memcpy(page + head->labels_offset + i * ROCEM_ABI_LABEL_BYTES, labels[i].data(),
                    std::min<std::size_t>(labels[i].size(), ROCEM_ABI_LABEL_BYTES - 1));
    }
}

void CountersPage::set(std::size_t index, std::uint64_t value) {
    ipc::store_shared(values_[index], value, std::memory_order_relaxed);
}

std::uint64_t CountersPage::get(std::size_t index) const {
    return ipc::load_shared(values_[index], std::memory_order_relaxed);
}

}  // namespace rocem::daemon
