// Every capture of Linux rxe under its profile: no violation, and the habits that rxe_deviations.txt lists.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "tests/golden/captures.hpp"
#include "tools/rocem-check/command.hpp"

using namespace rocem::tools;
using namespace rocem::test;

namespace {

// "file: name, count" lines.
std::string deviations_of(const std::string& file, const Report& report) {
    std::map<std::string, std::size_t> counts;
    for (const ConnectionReport& connection : report.connections) {
        for (const Finding& finding : connection.findings)
            ++counts[std::string(finding.name(report.profile))];
    }
    std::string text;
    for (const auto& [name, count] : counts)
        text += file + ": " + name + ", " + std::to_string(count) + "\n";
    return text;
}

}  // namespace

TEST_CASE("rxe's captures break no rule but by known habits", "[check][golden]") {
    std::ifstream golden(std::string(ROCEM_SOURCE_DIR) + "/tests/check/rxe_deviations.txt");
    std::string expected;
    for (std::string line; std::getline(golden, line);) {
        if (line.rfind('#', 0) != 0) expected += line + "\n";
    }
    CheckOptions options;
    options.profile = Profile::rxe;
    std::string found;
    for (const CaptureRow& row : capture_table()) {
        const auto report = check_file(capture_path(row.file), options);
        REQUIRE(report);
        INFO(row.file);
        CHECK(report->frames == row.frames);
        CHECK(report->violations() == 0);
        found += deviations_of(row.file, *report);
    }
    CHECK(found == expected);
}

TEST_CASE("no rule of the spec is broken by rxe where no habit is named", "[check][golden]") {
    CheckOptions rxe;
    rxe.profile = Profile::rxe;
    for (const CaptureRow& row : capture_table()) {
        const auto named = check_file(capture_path(row.file), rxe);
        const auto strict = check_file(capture_path(row.file), {});
        REQUIRE(named);
        REQUIRE(strict);
        INFO(row.file);
        // Habits that nothing forbids are silent.
        CHECK(strict->violations() <= named->deviations());
        CHECK(strict->deviations() == 0);
    }
}
