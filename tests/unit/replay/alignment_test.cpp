#include "tools/rocem-replay/alignment.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace rocem::tools {
namespace {

// Letters that are equal fit. The result shows what stands against what, "-" for nothing.
std::string aligned(const std::string& ours, const std::string& peers, std::vector<std::size_t> causes = {}) {
    if (causes.empty()) causes.assign(peers.size(), ours.size());
    const auto steps = align(ours.size(), causes,
                             [&](std::size_t o, std::size_t p) { return ours[o] == peers[p] ? 10 : 0; });
    std::string text;
    for (const AlignedStep& step : steps) {
        text += step.ours ? ours[*step.ours] : '-';
        text += step.peers ? peers[*step.peers] : '-';
        text += ' ';
    }
    return text;
}

TEST_CASE("equal sequences stand pair by pair", "[alignment]") {
    CHECK(aligned("abc", "abc") == "aa bb cc ");
    CHECK(aligned("", "") == "");
}

TEST_CASE("what one side lacks stands alone", "[alignment]") {
    CHECK(aligned("abcd", "ad") == "aa b- c- dd ");
    CHECK(aligned("ad", "abcd") == "aa -b -c dd ");
    CHECK(aligned("abc", "") == "a- b- c- ");
    CHECK(aligned("", "abc") == "-a -b -c ");
}

TEST_CASE("of equal sums the latest cause wins", "[alignment]") {
    // A READ response that came again: the one captured may answer either request.
    CHECK(aligned("aa", "a") == "a- aa ");
}

TEST_CASE("an answer does not come before its cause", "[alignment]") {
    // The peer's first answer was captured when only the first of ours had been caused.
    CHECK(aligned("aa", "a", {1}) == "aa a- ");
    CHECK(aligned("ab", "ba", {1, 2}) == "-b aa b- ");
    CHECK(aligned("ab", "b", {1}).find("bb") == std::string::npos);
}

TEST_CASE("ours far behind are not looked at", "[alignment]") {
    const std::string ours = "x" + std::string(band_max, 'y');
    CHECK(aligned(ours, "x").find("xx") == std::string::npos);
    CHECK(aligned(ours.substr(0, band_max), "x").find("xx") == 0);
}

TEST_CASE("a long sequence with a loss now and then is aligned whole", "[alignment]") {
    std::string ours;
    std::string peers;
    std::vector<std::size_t> causes;
    std::size_t lost = 0;
    for (std::size_t i = 0; i < 5000; ++i) {
        ours += static_cast<char>('a' + i % 23);
        if (i % 7 == 3) {
            ++lost;
        } else {
            peers += ours.back();
            causes.push_back(std::min<std::size_t>(i + 100, 5000));
        }
    }
    const auto steps = align(ours.size(), causes,
                             [&](std::size_t o, std::size_t p) { return ours[o] == peers[p] ? 10 : 0; });
    std::size_t pairs = 0;
    for (const AlignedStep& step : steps)
        pairs += step.ours && step.peers;
    CHECK(pairs == ours.size() - lost);
}

}  // namespace
}  // namespace rocem::tools
