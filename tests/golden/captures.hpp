// The captures of pcaps/rxe and their table.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace rocem::test {

struct CaptureRow {
    std::string file;
    std::size_t frames = 0;
    std::size_t icrc_ok = 0;
    std::size_t icrc_bad = 0;
    std::map<std::string, std::size_t> opcodes;  // in the table's words: RC_SEND_ONLY_IMM
};

// The rows of pcaps/rxe/README.md.
std::vector<CaptureRow> capture_table();

std::string capture_path(const std::string& file);

}  // namespace rocem::test
