// The daemon's facts as JSON, for rocemctl.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/control/services.hpp"

namespace rocem::daemon {

enum class Subject : std::uint8_t { status, nics, qps, counters };

struct ManagementQuestion {
    Subject subject = Subject::status;
    std::optional<NicIndex> nic;  // nics, qps, counters: only this one
};

// "counters rocem0"; the error is a sentence.
tl::expected<ManagementQuestion, std::string> parse_question(std::string_view text, const Services& services);

std::string status_text(const Services& services);
std::string nics_text(const Services& services, std::optional<NicIndex> only);
std::string counters_text(const Services& services, std::optional<NicIndex> only);
std::string qps_text(const Services& services, std::optional<NicIndex> only, const std::vector<QpFacts>& qps);

}  // namespace rocem::daemon
