// What the command line of rocem-pingpong says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocem::tools {

enum class Role : std::uint8_t { server, client };

enum class Verb : std::uint8_t { send, send_imm, write, write_imm, read, cas, faa };

struct VerbName {
    Verb verb;
    const char* name;
};

inline constexpr std::array<VerbName, 7> verb_names = {{
    {Verb::send, "send"},
    {Verb::send_imm, "send_imm"},
    {Verb::write, "write"},
    {Verb::write_imm, "write_imm"},
    {Verb::read, "read"},
    {Verb::cas, "cas"},
    {Verb::faa, "faa"},
}};

const char* name_of(Verb verb);

inline bool is_atomic(Verb verb) {
    return verb == Verb::cas || verb == Verb::faa;
}
// Whether each message takes one of the server's receives.
inline bool takes_receive(Verb verb) {
    return verb == Verb::send || verb == Verb::send_imm || verb == Verb::write_imm;
}
inline bool has_immediate(Verb verb) {
    return verb == Verb::send_imm || verb == Verb::write_imm;
}

inline constexpr std::size_t sizes_max = 16;
inline constexpr std::uint32_t depth_max = 4096;

struct Options {
    Role role = Role::server;
    std::optional<std::string> socket;  // none: rocem_open's own search
    std::optional<std::string> nic;     // none: the daemon's first
    std::string peer = "127.0.0.1:18515";
    std::vector<Verb> verbs;
    std::vector<std::uint32_t> sizes = {64, 4096, 65536};  // bytes of a message
    std::uint64_t iterations = 1000;                       // messages of each verb and size
    std::uint64_t total_bytes = 0;                         // not 0: as many messages as make up so many bytes
    std::uint32_t depth = 16;                              // messages under way at once
    std::uint32_t mtu = 0;                                 // bytes; 0: the smaller of both ports' active MTU
    std::int32_t gid_index = -1;  // -1: the first IPv4 address, else the first there is
    std::uint32_t timeout = 14;   // 4.096 us << timeout; 0: for ever
    std::uint32_t retry_cnt = 7;
    std::uint32_t rnr_retry = 7;
    std::uint32_t min_rnr_timer = 12;
    std::uint64_t seed = 1;
    bool events = false;  // sleep for completions instead of polling
    bool json = false;
};

// Parses, or says on stderr what is wrong. Nothing: end with `exit_status` (0 after --help).
std::optional<Options> parse_options(int argc, char** argv, int& exit_status);

}  // namespace rocem::tools
