// main() of every Catch2 executable. When ROCEM_TEST_COUNTS names a file, a line "<executable> <passed>
// <failed> <skipped>" is appended to it, and before it "skipped <executable> <test case>: <reason>" for each
// skip: tools/test.sh adds them up.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/skip.hpp"

namespace rocem::test {
namespace {
std::optional<std::string> skip_reason;
}  // namespace

void mark_skipped(std::string_view reason) {
    skip_reason = std::string(reason);
}

namespace {

class CountingListener : public Catch::TestEventListenerBase {
 public:
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo&) override { skip_reason.reset(); }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        if (stats.totals.assertions.failed > 0) {
            ++failed_;
        } else if (skip_reason) {
            skips_.push_back(stats.testInfo.name + ": " + *skip_reason);
            std::cerr << "SKIPPED " << skips_.back() << '\n';
        } else {
            ++passed_;
        }
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        const char* path = std::getenv("ROCEM_TEST_COUNTS");
        if (path == nullptr) return;
        if (std::FILE* file = std::fopen(path, "a")) {
            const char* name = stats.runInfo.name.c_str();
            for (const std::string& skip : skips_)
                std::fprintf(file, "skipped %s %s\n", name, skip.c_str());
            std::fprintf(file, "%s %d %d %zu\n", name, passed_, failed_, skips_.size());
            std::fclose(file);
        }
    }

 private:
    int passed_ = 0;
    int failed_ = 0;
    std::vector<std::string> skips_;
};

CATCH_REGISTER_LISTENER(CountingListener)

}  // namespace
}  // namespace rocem::test
