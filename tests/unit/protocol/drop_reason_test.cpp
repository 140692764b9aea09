#include "protocol/drop_reason.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <set>
#include <string_view>

using namespace rocem::protocol;

TEST_CASE("every reason has a name of its own and a sentence", "[drop_reason]") {
    std::set<std::string_view> names;
    std::set<std::string_view> sentences;
    for (std::size_t i = 0; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        const std::string_view name = drop_reason_name(reason);
        INFO(name);
        CHECK_FALSE(name.empty());
        for (const char c : name)
            CHECK((std::islower(static_cast<unsigned char>(c)) != 0 ||
                   std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_'));
        CHECK(drop_reason_sentence(reason).size() > name.size() / 2);
        names.insert(name);
        sentences.insert(drop_reason_sentence(reason));
    }
    CHECK(names.size() == drop_reason_count);
    CHECK(sentences.size() == drop_reason_count);
    CHECK(drop_reason_name(DropReason::icrc_mismatch) == "icrc_mismatch");
}
