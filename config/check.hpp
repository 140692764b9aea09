// What needs more than one value of a configuration, or more than its shape, to be judged.
#pragma once

#include "config/config_error.hpp"
#include "config/settings.hpp"

namespace rocem::config {

// Every rule that the settings break: names, MACs and addresses that stand twice, wires without two ends,
// rings whose frames are too small, gateways that cannot be reached, and so on.
ConfigErrors check_settings(const DaemonSettings& settings);

}  // namespace rocem::config
