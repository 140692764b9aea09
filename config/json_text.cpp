#include "config/json_text.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace rocem::config {
namespace {

using nlohmann::json;

struct Position {
    std::size_t line = 1;
    std::size_t column = 1;
};

// The line and column of the last character that the lexer consumed.
Position position_of(std::string_view text, std::size_t consumed_bytes) {
    Position position;
    const std::size_t last = consumed_bytes > 0 ? consumed_bytes - 1 : 0;
    for (std::size_t i = 0; i < last && i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++position.line;
            position.column = 1;
        } else {
            ++position.column;
        }
    }
    return position;
}

std::string to_path(Position position) {
    return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

// The library's text is "[json.exception…] parse error at line L, column C: syntax error while parsing
// object key - unexpected …": its position is ours already.
std::string without_preamble(const std::string& what) {
    const std::size_t colon = what.find(": ");
    return colon == std::string::npos ? what : what.substr(colon + 2);
}

// Builds the document from SAX events, because only they still show a key that stands twice.
class DocumentBuilder : public nlohmann::json_sax<json> {
 public:
    explicit DocumentBuilder(std::string_view text) : text_(text) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(std::int64_t value) override { return add(value); }
    bool number_unsigned(std::uint64_t value) override { return add(value); }
    bool number_float(double value, const std::string&) override { return add(value); }
    bool string(std::string& value) override {
        // The C interfaces that names and paths are given to would stop there.
        if (value.find('\0') != std::string::npos)
            errors_.push_back({next_path(), "a string may not contain the character U+0000"});
        return add(std::move(value));
    }
    bool binary(json::binary_t&) override { return false; }  // never in text

    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& key) override {
        Level& level = levels_.back();
        if (!level.keys.insert(key).second)
            errors_.push_back({child_path(level.path, key), "this key stands twice in its object"});
        level.key = std::move(key);
        return true;
    }

    bool parse_error(std::size_t consumed_bytes, const std::string&, const json::exception& error) override {
        errors_.assign(1, {to_path(position_of(text_, consumed_bytes)), without_preamble(error.what())});
        return false;
    }

    json take_document() { return std::move(document_); }
    ConfigErrors take_errors() { return std::move(errors_); }

 private:
    struct Level {
        json value;
        std::string path;
        std::string key;  // of the member that comes next, in an object
        std::set<std::string> keys;
    };

    std::string next_path() const {
        if (levels_.empty()) return "";
        const Level& level = levels_.back();
        return child_path(level.path,
                          level.value.is_array() ? std::to_string(level.value.size()) : level.key);
    }

    bool open(json value) {
        if (levels_.size() == json_depth_max) {
            errors_.assign(1,
                           {next_path(), "nested deeper than " + std::to_string(json_depth_max) + " levels"});
            return false;
        }
        levels_.push_back({std::move(value), next_path(), {}, {}});
        return true;
    }

    bool close() {
        json value = std::move(levels_.back().value);
        levels_.pop_back();
        return add(std::move(value));
    }

    bool add(json value) {
        if (levels_.empty()) {
            document_ = std::move(value);
            return true;
        }
        Level& level = levels_.back();
        if (level.value.is_array())
            level.value.push_back(std::move(value));
        else
            level.value[level.key] = std::move(value);
        return true;
    }

    std::string_view text_;
    json document_;
    std::vector<Level> levels_;
    ConfigErrors errors_;
};

}  // namespace

tl::expected<nlohmann::json, ConfigErrors> parse_json(std::string_view text) {
    constexpr bool strict = true;
    constexpr bool ignore_comments = true;
    DocumentBuilder builder(text);
    json::sax_parse(text, &builder, json::input_format_t::json, strict, ignore_comments);
    ConfigErrors errors = builder.take_errors();
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return builder.take_document();
}

std::string child_path(const std::string& parent, std::string_view key) {
    std::string path = parent + "/";
    for (const char c : key) {
        if (c == '~')
            path += "~0";
        else if (c == '/')
            path += "~1";
        else
            path += c;
    }
    return path;
}

std::string shown(const nlohmann::json& value) {
    constexpr std::size_t length_max = 60;
    if (value.is_object()) return value.empty() ? "an empty object" : "an object";
    if (value.is_array()) return value.empty() ? "an empty array" : "an array";
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > length_max) text = text.substr(0, length_max) + "…";
    return text;
}

std::string to_string(const ConfigError& error) {
    return error.path.empty() ? error.message : error.path + ": " + error.message;
}

}  // namespace rocem::config
