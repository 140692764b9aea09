// What a request packet says: its place in a message, its length, what it was before (rocev2.md 5.2, 5.3).
#pragma once

#include "tools/check/connection.hpp"

namespace rocem::tools {

class RequestContent {
 public:
    explicit RequestContent(Connection& connection) : c_(connection) {}

    // Before the request is entered into the log.
    void see(const Sighting& request, Place place, Place end);
    // After that, if it is there for the first time.
    void see_outstanding(const Sighting& request, Place place);

 private:
    void see_again(const Sighting& request, Place place, const Sent& sent);
    void see_reread(const Sighting& request, Place place, Place start, const Sent& read);
    void check_order(const Sighting& request, Place place);
    void check_payload(const Sighting& request, Place place);
    void check_reth(const Sighting& request, Place place);

    Connection& c_;
};

}  // namespace rocem::tools
