#include "table.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace rocem::tools {

Table::Table(std::vector<std::string> heading) {
    rows_.push_back(std::move(heading));
}

void Table::add(std::vector<std::string> row) {
    assert(row.size() == rows_.front().size());
    rows_.push_back(std::move(row));
}

std::string Table::text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
        }
        text += '\n';
    }
    return text;
}

}  // namespace rocem::tools
