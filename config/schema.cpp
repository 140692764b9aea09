#include "config/schema.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "config/json_text.hpp"
#include "config/similar.hpp"

namespace rocem::config {
namespace {

using nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

const json& schema_document() {
    static const json document = json::parse(schema_text());
    return document;
}

// The parts of the schema that speak about one value: a node, what it refers to, and the branches of
// allOf whose "if" holds for the value.
using SchemaNodes = std::vector<const json*>;

void collect(const json& node, const json& value, SchemaNodes& nodes);

bool holds(const json& condition, const json& value) {
    for (const auto& [key, expected] : condition.at("properties").items())
        if (!value.is_object() || !value.contains(key) || value.at(key) != expected.at("const")) return false;
    return true;
}

void collect(const json& node, const json& value, SchemaNodes& nodes) {
    if (node.contains("$ref")) {
        const json::json_pointer pointer(node.at("$ref").get<std::string>().substr(1));  // "#/definitions/…"
        collect(schema_document().at(pointer), value, nodes);
        return;
    }
    nodes.push_back(&node);
    if (!node.contains("allOf")) return;
    for (const json& branch : node.at("allOf"))
        if (holds(branch.at("if"), value)) collect(branch.at("then"), value, nodes);
}

struct Place {
    std::string path;
    const json* value = nullptr;
    SchemaNodes nodes;
};

// Walks one step of the validator's path, which is "[key]" or "[index]".
std::optional<Place> step(const Place& from, const std::string& key) {
    Place to;
    to.path = child_path(from.path, key);
    if (from.value->is_array()) {
        to.value = &from.value->at(std::stoul(key));
        for (const json* node : from.nodes)
            if (node->contains("items")) collect(node->at("items"), *to.value, to.nodes);
    } else if (from.value->is_object() && from.value->contains(key)) {
        to.value = &from.value->at(key);
        for (const json* node : from.nodes)
            if (node->contains("properties") && node->at("properties").contains(key))
                collect(node->at("properties").at(key), *to.value, to.nodes);
    } else {
        return std::nullopt;
    }
    return to;
}

Place find_place(const json& document, const std::vector<std::string>& context) {
    Place place;
    place.value = &document;
    collect(schema_document(), document, place.nodes);
    for (std::size_t i = 1; i < context.size(); ++i) {  // context[0] is "<root>"
        const std::string& token = context[i];
        std::optional<Place> next = step(place, token.substr(1, token.size() - 2));
        if (!next) break;
        place = std::move(*next);
    }
    return place;
}

std::string joined(const json& values) {
    std::string text;
    for (const json& value : values)
        text += (text.empty() ? "" : ", ") + shown(value);
    return text;
}

std::string kind_expected(const json& node) {
    const std::string type = node.at("type").get<std::string>();
    if (type == "boolean") return "true or false";
    if (type == "integer" || type == "number") {
        std::string text = type == "integer" ? "an integer" : "a number";
        if (node.contains("minimum")) text += " from " + node.at("minimum").dump();
        if (node.contains("maximum")) text += " to " + node.at("maximum").dump();
        return text;
    }
    return (type == "array" || type == "object" ? "an " : "a ") + type;
}

// What the node wants of the value, in words.
std::string expectation(const json& node) {
    if (node.contains("enum")) return "one of " + joined(node.at("enum"));
    if (node.contains("x-expected")) return node.at("x-expected").get<std::string>();
    if (node.contains("const")) return shown(node.at("const"));
    return kind_expected(node);
}

bool has_type(const std::string& type, const json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return value.is_number();
}

void explain_members(const Place& place, const json& node, ConfigErrors& errors) {
    if (node.contains("required"))
        for (const json& key : node.at("required"))
            if (!place.value->contains(key.get<std::string>()))
                errors.push_back({place.path, "the key " + shown(key) + " is missing"});
    if (node.value("additionalProperties", true)) return;
    const json& known = node.at("properties");
    for (const auto& [key, value] : place.value->items()) {
        if (known.contains(key)) continue;
        std::vector<std::string> names;
        for (const auto& [name, unused] : known.items())
            names.push_back(name);
        const std::optional<std::string> near = most_similar(key, names);
        errors.push_back(
            {child_path(place.path, key), near ? "unknown key, did you mean \"" + *near + "\"?"
                                               : "unknown key, expected one of " + joined(json(names))});
    }
}

void explain_count(const Place& place, const json& node, ConfigErrors& errors) {
    const std::size_t least = node.value("minItems", std::size_t{0});
    const std::size_t most = node.value("maxItems", std::size_t{0});
    if (place.value->size() >= least && (most == 0 || place.value->size() <= most)) return;
    errors.push_back({place.path, "expected " + std::to_string(least) + " to " + std::to_string(most) +
                                      " elements, found " + std::to_string(place.value->size())});
}

// What is wrong with the value itself; its members and elements have their own places.
ConfigErrors explain(const Place& place) {
    ConfigErrors errors;
    for (const json* node : place.nodes) {
        if (node->contains("type") && !has_type(node->at("type").get<std::string>(), *place.value)) {
            errors.push_back(
                {place.path, "expected " + expectation(*node) + ", found " + shown(*place.value)});
            continue;
        }
        if (place.value->is_object()) explain_members(place, *node, errors);
        if (place.value->is_array()) explain_count(place, *node, errors);
        if (!place.value->is_structured())
            errors.push_back(
                {place.path, "expected " + expectation(*node) + ", found " + shown(*place.value)});
    }
    return errors;
}

}  // namespace

ConfigErrors check_schema(const nlohmann::json& document) {
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(Adapter(schema_document()), schema);
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    if (validator.validate(schema, Adapter(document), &results)) return {};

    ConfigErrors errors;
    std::set<std::string> seen;
    std::string raw;
    for (const valijson::ValidationResults::Error& error : results) {
        const Place place = find_place(document, error.context);
        if (raw.empty()) raw = error.description;
        if (!seen.insert(place.path).second) continue;
        for (ConfigError& explained : explain(place))
            errors.push_back(std::move(explained));
    }
    if (errors.empty()) errors.push_back({"", raw});  // refused, in words that only the validator has
    return errors;
}

}  // namespace rocem::config
