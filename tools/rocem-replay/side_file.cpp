#include "tools/rocem-replay/side_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "config/json_text.hpp"
#include "queue_engine/qp_attributes.hpp"

namespace rocem::tools {
namespace {

using nlohmann::json;

struct AccessName {
    std::string_view name;
    std::uint32_t flag = 0;
};
constexpr AccessName access_names[] = {
    {"local_write", engine::access_local_write},
    {"remote_write", engine::access_remote_write},
    {"remote_read", engine::access_remote_read},
    {"remote_atomic", engine::access_remote_atomic},
};

struct HabitName {
    std::string_view name;
    AckHabit habit{};
};
constexpr HabitName habit_names[] = {
    {"when_requested", AckHabit::when_requested},
    {"every_packet", AckHabit::every_packet},
    {"coalesced", AckHabit::coalesced},
};

// An object of the file: hands out its members, and complains about those that nobody asked for.
class Object {
 public:
    Object(const json& value, std::string path, std::vector<std::string>& errors)
        : value_(value), path_(std::move(path)), errors_(errors) {
        if (!value.is_object()) fail("", "an object", value);
    }

    const json* find(const std::string& key) {
        known_.insert(key);
        if (!value_.is_object()) return nullptr;
        const auto found = value_.find(key);
        return found == value_.end() ? nullptr : &*found;
    }

    void require(const std::string& key) {
        if (value_.is_object() && !value_.contains(key)) errors_.push_back(where(key) + ": missing");
    }

    void text(const std::string& key, std::string& into) {
        const json* member = find(key);
        if (member == nullptr) return;
        if (!member->is_string()) return fail(key, "a text", *member);
        into = member->get<std::string>();
    }

    void flag(const std::string& key, bool& into) {
        const json* member = find(key);
        if (member == nullptr) return;
        if (!member->is_boolean()) return fail(key, "true or false", *member);
        into = member->get<bool>();
    }

    // A number, or a text with a hexadecimal one ("0x7f00").
    std::optional<std::uint64_t> number(const std::string& key, std::uint64_t lowest, std::uint64_t highest) {
        const json* member = find(key);
        if (member == nullptr) return std::nullopt;
        const auto value = number_of(*member);
        if (!value || *value < lowest || *value > highest) {
            fail(key, "a number from " + std::to_string(lowest) + " to " + std::to_string(highest), *member);
            return std::nullopt;
        }
        return value;
    }

    std::optional<std::uint32_t> access(const std::string& key) {
        const json* member = find(key);
        if (member == nullptr) return std::nullopt;
        const char* expected = "a list of local_write, remote_write, remote_read, remote_atomic";
        if (!member->is_array()) {
            fail(key, expected, *member);
            return std::nullopt;
        }
        std::uint32_t flags = 0;
        for (const json& name : *member) {
            const auto* found =
                std::find_if(std::begin(access_names), std::end(access_names),
                             [&](const AccessName& row) { return name.is_string() && name == row.name; });
            if (found == std::end(access_names)) {
                fail(key, expected, *member);
                return std::nullopt;
            }
            flags |= found->flag;
        }
        return flags;
    }

    template <class Row>
    void each(const std::string& key, Row row) {
        const json* member = find(key);
        if (member == nullptr) return;
        if (!member->is_array()) return fail(key, "a list", *member);
        for (std::size_t i = 0; i < member->size(); ++i)
            row((*member)[i], where(key) + "/" + std::to_string(i));
    }

    void refuse_unknown() {
        if (!value_.is_object()) return;
        for (const auto& item : value_.items()) {
            if (known_.count(item.key()) == 0) errors_.push_back(where(item.key()) + ": unknown key");
        }
    }

    void fail(const std::string& key, const std::string& expected, const json& found) {
        errors_.push_back(where(key) + ": expected " + expected + ", found " + config::shown(found));
    }

    static std::optional<std::uint64_t> number_of(const json& value) {
        if (value.is_number_unsigned()) return value.get<std::uint64_t>();
        if (!value.is_string()) return std::nullopt;
        const std::string& text = value.get_ref<const std::string&>();
        constexpr std::size_t digits_max = 16;
        if (text.size() < 3 || text.size() > 2 + digits_max || text.compare(0, 2, "0x") != 0)
            return std::nullopt;
        if (text.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string::npos) return std::nullopt;
        return std::stoull(text, nullptr, 16);
    }

 private:
    std::string where(const std::string& key) const {
        return key.empty() ? path_ : config::child_path(path_, key);
    }

    const json& value_;
    std::string path_;
    std::vector<std::string>& errors_;
    std::set<std::string> known_;
};

constexpr std::uint64_t psn_max = 0xffffff;
constexpr std::uint64_t u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t message_max = std::uint64_t{1} << 31;

void read_hex(Object& object, const std::string& key, std::vector<std::byte>& bytes) {
    std::string text;
    object.text(key, text);
    if (text.empty()) return;
    if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        return object.fail(key, "bytes as lower case hexadecimal digits", json(text));
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
}

// {"repeat": "c0c1"}, {"then_zeros": "00ff"} or {"ramp": 7}: byte i is 7 i + i / 256.
void read_initial(const json& value, const std::string& path, std::vector<std::string>& errors,
                  RegionFact& region) {
    constexpr std::size_t ramp_period = 65536;
    Object object(value, path, errors);
    read_hex(object, "repeat", region.initial_bytes);
    if (object.find("then_zeros") != nullptr) {
        region.initial_bytes_repeat = false;
        read_hex(object, "then_zeros", region.initial_bytes);
    }
    if (const auto step = object.number("ramp", 0, 255)) {
        for (std::size_t i = 0; i < ramp_period; ++i)
            region.initial_bytes.push_back(static_cast<std::byte>(i * *step + i / 256));
    }
    object.refuse_unknown();
    if (value.is_object() && value.size() != 1) object.fail("", "one of repeat, then_zeros and ramp", value);
}

RegionFact read_region(const json& value, const std::string& path, std::vector<std::string>& errors) {
    Object object(value, path, errors);
    RegionFact region;
    for (const char* key : {"va", "length", "r_key", "access"})
        object.require(key);
    region.va = object.number("va", 0, u64_max).value_or(0);
    region.length = object.number("length", 0, u64_max).value_or(0);
    region.r_key = protocol::RKey(static_cast<std::uint32_t>(object.number("r_key", 0, u32_max).value_or(0)));
    region.access = object.access("access").value_or(0);
    if (const json* initial = object.find("initial"))
        read_initial(*initial, path + "/initial", errors, region);
    object.flag("changed_by_application", region.changed_by_application);
    object.refuse_unknown();
    if (region.length == 0 || region.length > u64_max - region.va)
        object.fail("length", "a region of at least one byte that ends below 2^64", json(region.length));
    constexpr std::uint32_t writes = engine::access_remote_write | engine::access_remote_atomic;
    if ((region.access & writes) != 0 && (region.access & engine::access_local_write) == 0)
        object.fail("access", "local_write where there is remote_write or remote_atomic", value["access"]);
    return region;
}

ReceiveFact read_receive(const json& value, const std::string& path, std::vector<std::string>& errors) {
    Object object(value, path, errors);
    ReceiveFact receive;
    object.require("count");
    object.require("length");
    receive.count = object.number("count", 1, u32_max).value_or(1);
    receive.length = static_cast<std::uint32_t>(object.number("length", 0, message_max).value_or(0));
    receive.before_frame = object.number("before_frame", 1, u32_max).value_or(0);
    object.refuse_unknown();
    return receive;
}

template <class T>
std::optional<T> as(std::optional<std::uint64_t> number) {
    if (!number) return std::nullopt;
    return T(static_cast<std::uint32_t>(*number));
}

void read_mtu(Object& object, ResponderFacts& facts) {
    const json* member = object.find("mtu");
    if (member == nullptr) return;
    const auto bytes = Object::number_of(*member);
    if (bytes) facts.mtu = protocol::PathMtu::from_bytes(*bytes);
    if (!facts.mtu) object.fail("mtu", "one of 256, 512, 1024, 2048, 4096", *member);
}

void read_address(Object& object, ResponderFacts& facts) {
    std::string text;
    object.text("address", text);
    if (text.empty()) return;
    facts.address = protocol::Gid::from_string(text);
    if (!facts.address) object.fail("address", "an IPv4 or IPv6 address", json(text));
}

void read_acks(Object& object, ResponderFacts& facts) {
    std::string text;
    object.text("acks", text);
    if (text.empty()) return;
    const auto* found = std::find_if(std::begin(habit_names), std::end(habit_names),
                                     [&](const HabitName& row) { return row.name == text; });
    if (found == std::end(habit_names))
        return object.fail("acks", "when_requested, every_packet or coalesced", json(text));
    facts.acks = found->habit;
}

void read_not_received(Object& object, ResponderFacts& facts) {
    object.each("not_received", [&](const json& value, const std::string&) {
        const auto number = Object::number_of(value);
        if (!number || *number == 0)
            return object.fail("not_received", "a list of frame numbers from 1 on", value);
        facts.not_received.insert(*number);
    });
}

void read_regions(Object& object, ResponderFacts& facts, std::vector<std::string>& errors) {
    if (object.find("regions") == nullptr) return;
    facts.regions.emplace();
    object.each("regions", [&](const json& row, const std::string& row_path) {
        const RegionFact region = read_region(row, row_path, errors);
        for (const RegionFact& other : *facts.regions) {
            if (other.r_key.value() >> 8 == region.r_key.value() >> 8)
                errors.push_back(row_path + "/r_key: expected keys that differ above their lowest byte");
        }
        facts.regions->push_back(region);
    });
}

ResponderFacts read_responder(const json& value, const std::string& path, std::vector<std::string>& errors) {
    constexpr std::uint64_t rnr_code_max = 31;
    constexpr std::uint64_t rd_atomic_max = 16;
    Object object(value, path, errors);
    ResponderFacts facts;
    object.require("qpn");
    facts.qpn = as<protocol::Qpn>(object.number("qpn", 0, psn_max)).value_or(protocol::Qpn(0));
    read_address(object, facts);
    object.flag("absent", facts.absent);
    object.flag("answers_lost", facts.answers_lost);
    read_acks(object, facts);
    read_not_received(object, facts);
    read_mtu(object, facts);
    facts.expected_psn = as<protocol::Psn>(object.number("expected_psn", 0, psn_max));
    facts.msn = as<protocol::Msn>(object.number("msn", 0, psn_max));
    facts.access = object.access("access");
    if (const auto number = object.number("max_dest_rd_atomic", 0, rd_atomic_max))
        facts.max_dest_rd_atomic = static_cast<std::uint8_t>(*number);
    if (const auto number = object.number("min_rnr_timer", 0, rnr_code_max))
        facts.min_rnr_timer = static_cast<std::uint8_t>(*number);
    read_regions(object, facts, errors);
    if (object.find("receives") != nullptr) {
        facts.receives.emplace();
        object.each("receives", [&](const json& row, const std::string& row_path) {
            facts.receives->push_back(read_receive(row, row_path, errors));
        });
    }
    object.refuse_unknown();
    return facts;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += (text.empty() ? "" : "\n") + line;
    return text;
}

}  // namespace

const ResponderFacts* SideFile::find(const protocol::Gid& address, protocol::Qpn qpn) const {
    for (const ResponderFacts& facts : responders) {
        if (facts.qpn == qpn && (!facts.address || *facts.address == address)) return &facts;
    }
    return nullptr;
}

tl::expected<SideFile, std::string> parse_side_file(std::string_view text) {
    std::vector<std::string> errors;
    const auto document = config::parse_json(text);
    if (!document) {
        for (const config::ConfigError& error : document.error())
            errors.push_back(config::to_string(error));
        return tl::unexpected(joined(errors));
    }
    SideFile file;
    Object object(*document, "", errors);
    object.text("command", file.command);
    object.flag("cut", file.cut);
    object.each("responders", [&](const json& value, const std::string& path) {
        file.responders.push_back(read_responder(value, path, errors));
    });
    object.refuse_unknown();
    if (!errors.empty()) return tl::unexpected(joined(errors));
    return file;
}

std::string side_file_path(const std::string& capture_path) {
    return std::filesystem::path(capture_path).replace_extension(".json").string();
}

tl::expected<std::optional<SideFile>, std::string> read_side_file(const std::string& capture_path) {
    const std::string path = side_file_path(capture_path);
    std::error_code error;
    if (path == capture_path || !std::filesystem::exists(path, error)) return std::nullopt;
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) return tl::unexpected(path + ": cannot be read");
    auto file = parse_side_file(text.str());
    if (!file) return tl::unexpected(path + ": " + file.error());
    return std::optional<SideFile>(std::move(*file));
}

}  // namespace rocem::tools
