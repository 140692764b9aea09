// A capture of pcaps/rxe in memory, to be doctored and checked. Frames count from 1, as they stand when a
// function is called.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "protocol/packet.hpp"
#include "tools/check/options.hpp"
#include "tools/check/report.hpp"

namespace rocem::test {

class Trace {
 public:
    static Trace of(const std::string& file);  // RoCE v2 over IPv4 without tags, where frames are edited

    std::size_t size() const { return frames_.size(); }
    void erase(std::size_t number);
    void keep(std::size_t first, std::size_t last);
    void keep_if(const std::function<bool(const protocol::Packet&)>& wanted);
    // A copy of a frame, as its sender would send it again: with an IP identification of its own.
    void insert_copy(std::size_t of, std::size_t behind);
    // The same frame again, as the network would copy it.
    void insert_duplicate(std::size_t of, std::size_t behind);
    void move_to(std::size_t number, std::chrono::nanoseconds since_start);
    std::chrono::nanoseconds time(std::size_t number) const;

    // Fields of a frame's transport headers; the ICRC is made right again.
    void set_opcode(std::size_t number, std::uint8_t opcode);
    void set_psn(std::size_t number, std::uint32_t psn);
    void set_ack_request(std::size_t number, bool ack_request);
    void set_syndrome(std::size_t number, std::uint8_t syndrome);
    void set_msn(std::size_t number, std::uint32_t msn);
    void set_dma_length(std::size_t number, std::uint32_t dma_length);
    void set_original(std::size_t number, std::uint64_t original);
    // Turns a payload byte over and leaves the ICRC as it is.
    void damage(std::size_t number);

    std::vector<std::byte>& bytes(std::size_t number) { return frames_.at(number - 1).bytes; }
    tools::Report check(const tools::CheckOptions& options = {}) const;

 private:
    struct Frame {
        std::chrono::nanoseconds time{};
        std::vector<std::byte> bytes;
    };
    void write(std::size_t number, std::size_t at, std::uint64_t value, std::size_t count);
    void seal(std::size_t number);

    std::vector<Frame> frames_;
};

// "second NAK 7 5": the findings' names with their frames, a line each.
std::string findings_of(const tools::Report& report);

// T for --timeout n.
constexpr std::chrono::nanoseconds ack_timeout(unsigned n) {
    return std::chrono::nanoseconds(4096) * (std::int64_t{1} << n);
}

}  // namespace rocem::test
