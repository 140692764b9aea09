// Random work of all verbs between two nodes, and the oracle that says what must come of it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/story.hpp"

namespace rocem::test {

// Work of one direction on one connection. Each request works on a slot of memory of its own on both sides
// (atomics share one word per connection), so that the oracle needs no order between requests on the wire.
class Workload {
 public:
    Workload(Story& story, Side requester, unsigned connection, unsigned requests, std::uint64_t seed);

    // Posts everything: receives first.
    void post();
    // What the oracle has against the outcome, one line each; empty if all is well.
    std::string verdict(const std::vector<engine::WorkCompletion>& sent,
                        const std::vector<engine::WorkCompletion>& received) const;

 private:
    struct Step {
        engine::WrOpcode opcode{};
        std::uint32_t length = 0;
        std::uint32_t slot = 0;     // offset in the local and in the remote buffer
        std::uint64_t operand = 0;  // immediate, or what is added
        bool fence = false;
        bool solicited = false;
    };
    static bool takes_receive(const Step& step);
    SendRequest request_for(std::size_t index) const;
    SgeList pieces(const Buffer& buffer, const Step& step, std::uint64_t salt) const;
    void judge_memory(std::string& complaints) const;

    Story& story_;
    Side requester_;
    unsigned connection_;
    std::vector<Step> steps_;
    Buffer local_;   // gathered from and scattered into, at the requester
    Buffer remote_;  // at the responder
    Buffer word_;    // 8 bytes at the responder that atomics of this connection change
    std::vector<std::byte> local_before_;
    std::vector<std::byte> remote_before_;
};

}  // namespace rocem::test
