#include "config/json_text.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/config/documents.hpp"

using rocem::config::child_path;
using rocem::config::ConfigErrors;
using rocem::config::json_depth_max;
using rocem::config::parse_json;
using rocem::config::shown;
using rocem::test::Json;

TEST_CASE("json_text: every kind of value comes through") {
    const auto document = parse_json(
        R"({"a": [1, -2, 3.5, true, null, "x"], "b": {"c": {}, "d": []}, "e": 18446744073709551615})");
    REQUIRE(document.has_value());
    Json expected;
    expected["a"] = Json::array({1, -2, 3.5, true, nullptr, "x"});
    expected["b"]["c"] = Json::object();
    expected["b"]["d"] = Json::array();
    expected["e"] = 18446744073709551615U;
    CHECK(*document == expected);
}

TEST_CASE("json_text: comments are white space") {
    const auto document = parse_json("// first\n{ /* a */ \"x\": 1 } // last");
    REQUIRE(document.has_value());
    CHECK(*document == Json{{"x", 1}});
}

TEST_CASE("json_text: a syntax error has its line and column") {
    const auto [text, path] = GENERATE(table<const char*, const char*>({
        {"{\"a\": 1,\n \"b\" 2}", "line 2, column 6"},
        {"{\n\n  \"a\": tru }", "line 3, column 11"},
        {"{\"a\": 1} {", "line 1, column 10"},
        {"[1, 2", "line 1, column 6"},
        {"{\"a\": 01}", "line 1, column 8"},
        {"", "line 1, column 1"},
    }));
    CAPTURE(text);
    const auto document = parse_json(text);
    REQUIRE_FALSE(document.has_value());
    REQUIRE(document.error().size() == 1);
    CHECK(document.error().front().path == path);
    CHECK(document.error().front().message.find("syntax error") == 0);
}

TEST_CASE("json_text: every key that stands twice is named") {
    const auto document = parse_json(R"({"a": 1, "b": [0, {"c/d": 1, "c/d": 2}], "a": 3})");
    REQUIRE_FALSE(document.has_value());
    CHECK(document.error() == ConfigErrors{{"/b/1/c~1d", "this key stands twice in its object"},
                                           {"/a", "this key stands twice in its object"}});
}

TEST_CASE("json_text: the same key in two objects is no error") {
    CHECK(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])").has_value());
}

TEST_CASE("json_text: a string without an end for C is refused") {
    const auto document = parse_json(R"({"a": ["x", "10.1.0.1\u0000/24"]})");
    REQUIRE_FALSE(document.has_value());
    CHECK(document.error() == ConfigErrors{{"/a/1", "a string may not contain the character U+0000"}});
}

TEST_CASE("json_text: nesting has a limit") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(parse_json(nested(json_depth_max)).has_value());
    CHECK_FALSE(parse_json(nested(json_depth_max + 1)).has_value());
    CHECK_FALSE(parse_json(std::string(100000, '[')).has_value());
}

TEST_CASE("json_text: child_path escapes as RFC 6901 says") {
    CHECK(child_path("", "nics") == "/nics");
    CHECK(child_path("/nics/0", "a/b~c") == "/nics/0/a~1b~0c");
}

TEST_CASE("json_text: a value in a message is short") {
    CHECK(shown("x\ny") == "\"x\\ny\"");
    CHECK(shown(1500) == "1500");
    CHECK(shown(Json::object()) == "an empty object");
    CHECK(shown(Json::array({1})) == "an array");
    CHECK(shown(std::string(1000, 'x')).size() < 80);
}
