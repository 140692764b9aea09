// The AETH syndrome: positive ACK with credits, RNR NAK with a timer, or NAK with a code (IBTA 9.7.5.1).
//   bits 7:5  000 ACK, 001 RNR NAK, 011 NAK; others reserved
//   bits 4:0  credit code, timer code, NAK code
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rocem::protocol {

enum class NakCode : std::uint8_t {
    psn_sequence_error = 0,
    invalid_request = 1,
    remote_access_error = 2,
    remote_operational_error = 3,
    invalid_rd_request = 4,
};

class Syndrome {
 public:
    enum class Kind : std::uint8_t { ack, rnr_nak, nak, reserved };

    static constexpr std::uint8_t no_credit_info = 0x1f;  // credits are not counted: unlimited

    explicit constexpr Syndrome(std::uint8_t raw) : raw_(raw) {}
    static constexpr Syndrome ack(std::uint8_t credit_code = no_credit_info) {
        return Syndrome(credit_code & 0x1f);
    }
    static constexpr Syndrome rnr_nak(std::uint8_t timer_code) {
        return Syndrome(static_cast<std::uint8_t>(0x20 | (timer_code & 0x1f)));
    }
    static constexpr Syndrome nak(NakCode code) {
        return Syndrome(static_cast<std::uint8_t>(0x60 | static_cast<std::uint8_t>(code)));
    }

    constexpr std::uint8_t raw() const { return raw_; }
    constexpr std::uint8_t code() const { return raw_ & 0x1f; }
    constexpr Kind kind() const {
        switch (raw_ >> 5) {
            case 0:
                return Kind::ack;
            case 1:
                return Kind::rnr_nak;
            case 3:
                return Kind::nak;
            default:
                return Kind::reserved;
        }
    }
    // The code of a NAK; nothing for another kind or a reserved code.
    constexpr std::optional<NakCode> nak_code() const {
        if (kind() != Kind::nak || code() > 4) return std::nullopt;
        return static_cast<NakCode>(code());
    }

    friend constexpr bool operator==(Syndrome, Syndrome) = default;

 private:
    std::uint8_t raw_;
};

// Messages that a credit code grants; nothing for 0x1f (no credit information).
std::optional<std::uint32_t> credits_of_code(std::uint8_t code);
// The largest code that grants no more than this many.
std::uint8_t credit_code_for(std::uint32_t credits);

// The least time a requester waits after an RNR NAK with this timer code (0..31; higher bits are ignored).
std::chrono::nanoseconds rnr_timer(std::uint8_t code);

}  // namespace rocem::protocol
