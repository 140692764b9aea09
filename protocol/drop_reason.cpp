#include "protocol/drop_reason.hpp"

#include <array>

namespace rocem::protocol {
namespace {

struct Row {
    std::string_view name;
    std::string_view sentence;
};

constexpr std::array<Row, drop_reason_count> rows = {{
#define ROCEM_ROW(symbol, sentence) {#symbol, sentence},
    ROCEM_DROP_REASONS(ROCEM_ROW)
#undef ROCEM_ROW
}};

}  // namespace

std::string_view drop_reason_name(DropReason reason) {
    return rows[static_cast<std::size_t>(reason)].name;
}
std::string_view drop_reason_sentence(DropReason reason) {
    return rows[static_cast<std::size_t>(reason)].sentence;
}

}  // namespace rocem::protocol
