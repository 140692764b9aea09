// Columns of text for people.
#pragma once

#include <string>
#include <vector>

namespace rocem::tools {

// A heading and rows of the same number of cells; columns are as wide as their widest cell.
class Table {
 public:
    explicit Table(std::vector<std::string> heading);

    void add(std::vector<std::string> row);
    std::string text() const;

 private:
    std::vector<std::vector<std::string>> rows_;  // the heading first
};

}  // namespace rocem::tools
