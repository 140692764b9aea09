#include "config/similar.hpp"

#include <catch2/catch.hpp>

using rocem::config::most_similar;

TEST_CASE("similar: a slip of the hand is recognised") {
    const std::vector<std::string> keys = {"mac", "mtu", "addresses", "window_packets", "worker"};
    CHECK(most_similar("addreses", keys) == "addresses");
    CHECK(most_similar("address", keys) == "addresses");
    CHECK(most_similar("windowPackets", keys) == "window_packets");
    CHECK(most_similar("mtuu", keys) == "mtu");
    CHECK(most_similar("woker", keys) == "worker");
}

TEST_CASE("similar: another word is not") {
    CHECK(most_similar("gateway", {"mac", "mtu", "name"}) == std::nullopt);
    CHECK(most_similar("x", {"mac", "mtu"}) == std::nullopt);
    CHECK(most_similar("", {"a", "ab"}) == std::nullopt);
    CHECK(most_similar(std::string(100000, 'm'), {"mac"}) == std::nullopt);
    CHECK(most_similar("anything", {}) == std::nullopt);
}
