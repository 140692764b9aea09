#include "tests/golden/captures.hpp"

#include <fstream>
#include <sstream>

namespace rocem::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

}  // namespace

std::string capture_path(const std::string& file) {
    return std::string(ROCEM_SOURCE_DIR) + "/pcaps/rxe/" + file;
}

std::vector<CaptureRow> capture_table() {
    // |file|pkts kept/total|bytes|ICRC ok/bad|shows|opcodes (tshark)|command|
    constexpr std::size_t columns = 7;
    std::ifstream table(capture_path("README.md"));
    std::vector<CaptureRow> rows;
    for (std::string line; std::getline(table, line);) {
        const std::vector<std::string> cells = split(line, '|');
        if (cells.size() < columns + 1 || cells[1].find(".pcap") == std::string::npos) continue;
        CaptureRow row;
        row.file = cells[1];
        row.frames = std::stoul(split(cells[2], '/').at(0));
        row.icrc_ok = std::stoul(split(cells[4], '/').at(0));
        row.icrc_bad = std::stoul(split(cells[4], '/').at(1));
        for (const std::string& count : split(cells[6], ' '))
            row.opcodes[split(count, ':').at(0)] = std::stoul(split(count, ':').at(1));
        rows.push_back(row);
    }
    return rows;
}

}  // namespace rocem::test
