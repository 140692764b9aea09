#include "tests/conformance/transition_table.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace rocem::test {
namespace {

using engine::QpState;

// Bits as rocev2.md 5.10 numbers them (ibv_qp_attr_mask).
const std::map<std::string, unsigned> bit_numbers = {{"STATE", 0},
                                                     {"CUR_STATE", 1},
                                                     {"EN_SQD_ASYNC_NOTIFY", 2},
                                                     {"ACCESS_FLAGS", 3},
                                                     {"PKEY_INDEX", 4},
                                                     {"PORT", 5},
                                                     {"QKEY", 6},
                                                     {"AV", 7},
                                                     {"PATH_MTU", 8},
                                                     {"TIMEOUT", 9},
                                                     {"RETRY_CNT", 10},
                                                     {"RNR_RETRY", 11},
                                                     {"RQ_PSN", 12},
                                                     {"MAX_QP_RD_ATOMIC", 13},
                                                     {"ALT_PATH", 14},
                                                     {"MIN_RNR_TIMER", 15},
                                                     {"SQ_PSN", 16},
                                                     {"MAX_DEST_RD_ATOMIC", 17},
                                                     {"PATH_MIG_STATE", 18},
                                                     {"CAP", 19},
                                                     {"DEST_QPN", 20},
                                                     {"RATE_LIMIT", 25}};

const std::map<std::string, QpState> states = {
    {"RESET", QpState::reset}, {"INIT", QpState::init}, {"RTR", QpState::rtr},  {"RTS", QpState::rts},
    {"SQD", QpState::sqd},     {"SQE", QpState::sqe},   {"ERR", QpState::error}};

std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> found;
    for (std::string word; in >> word;)
        found.push_back(word);
    return found;
}

std::array<std::string, 4> columns(const std::string& line) {
    std::array<std::string, 4> found;
    std::istringstream in(line);
    for (std::string& column : found) {
        if (!std::getline(in, column, '|')) throw std::runtime_error("too few columns: " + line);
    }
    return found;
}

std::uint32_t mask(const std::string& text) {
    std::uint32_t bits = 0;
    for (const std::string& word : words(text)) {
        if (word != "-") bits |= 1u << bit_numbers.at(word);
    }
    return bits;
}

}  // namespace

TransitionTable read_transitions(const std::string& path, const std::string& type) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    TransitionTable table;
    std::vector<std::pair<QpState, QpState>> same;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        const auto [pair, types, required, optional] = columns(line);
        const std::vector<std::string> ends = words(pair);
        const std::vector<std::string> named = words(types);
        if (ends.size() != 2) throw std::runtime_error("not two states: " + line);
        if (std::find(named.begin(), named.end(), type) == named.end()) continue;
        const std::pair key(states.at(ends[0]), states.at(ends[1]));
        Transition transition;
        transition.required = mask(required);
        if (words(optional) == std::vector<std::string>{"SAME"}) {
            same.push_back(key);
        } else {
            transition.optional = mask(optional);
        }
        if (!table.emplace(key, transition).second) throw std::runtime_error("named twice: " + line);
    }
    for (const auto& key : same)
        table.at(key).optional = table.at({QpState::rtr, QpState::rts}).optional;
    return table;
}

}  // namespace rocem::test
