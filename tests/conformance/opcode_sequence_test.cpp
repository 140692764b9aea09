// rocev2.md 5.8.3 for RC, exhaustively: every request opcode after every other one. MIDDLE and LAST continue
// a message of their own kind, everything else begins one and may not interrupt; a violation is NAK 0x61.
#include <catch2/catch.hpp>
#include <optional>

#include "tests/support/script.hpp"

namespace rocem::test {
namespace {

enum class Kind { send, write, none };
enum class Place { begins, continues, ends, whole };  // FIRST, MIDDLE, LAST, ONLY and all that is one packet

struct Request {
    Op opcode;
    Kind kind;
    Place place;
};

constexpr Request requests[] = {
    {Op::send_first, Kind::send, Place::begins},   {Op::send_middle, Kind::send, Place::continues},
    {Op::send_last, Kind::send, Place::ends},      {Op::send_last_imm, Kind::send, Place::ends},
    {Op::send_only, Kind::send, Place::whole},     {Op::send_only_imm, Kind::send, Place::whole},
    {Op::write_first, Kind::write, Place::begins}, {Op::write_middle, Kind::write, Place::continues},
    {Op::write_last, Kind::write, Place::ends},    {Op::write_last_imm, Kind::write, Place::ends},
    {Op::write_only, Kind::write, Place::whole},   {Op::write_only_imm, Kind::write, Place::whole},
    {Op::read_request, Kind::none, Place::whole},  {Op::compare_swap, Kind::none, Place::whole},
    {Op::fetch_add, Kind::none, Place::whole},
};

constexpr std::uint32_t mtu = 1024;
constexpr std::uint32_t tail = 8;

bool starts(const Request& request) {
    return request.place == Place::begins || request.place == Place::whole;
}
bool stays_open(const Request& request) {
    return request.place == Place::begins || request.place == Place::continues;
}

bool may_follow(const Request& previous, const Request& next) {
    if (!stays_open(previous)) return starts(next);
    return !starts(next) && next.kind == previous.kind;
}

// Sends previous, with what must come before it, and then next.
class Conversation {
 public:
    Conversation() : target_(peer.nic.buffer(8192)) {
        for (std::uint64_t id = 1; id <= 4; ++id)
            peer.post(receive(id, target_.all()));
    }

    void say(const Request& request, std::uint32_t message_length) {
        const std::uint32_t payload = stays_open(request) ? mtu : request.kind == Kind::none ? 0 : tail;
        const std::uint32_t length = starts(request) && request.place == Place::whole ? tail : message_length;
        peer.hear(peer.request(request.opcode, psn_++, payload, target_, length));
    }

    Script peer;

 private:
    Buffer target_;
    std::int32_t psn_ = 0;
};

std::uint32_t packets_before(const Request& request) {
    return starts(request) ? 0 : 1;
}

// The length that a WRITE must announce for its packets to fit it: FIRST [MIDDLE] previous, then next.
std::uint32_t length_for(const Request& previous, const Request& next) {
    std::uint32_t length = packets_before(previous) * mtu;
    length += stays_open(previous) ? mtu : tail;
    if (!stays_open(previous)) return length;
    return length + (next.place == Place::ends ? tail : 2 * mtu);
}

}  // namespace

TEST_CASE("5.8.3: every opcode after every other") {
    for (const Request& previous : requests) {
        for (const Request& next : requests) {
            CAPTURE(name_of(previous.opcode), name_of(next.opcode));
            Conversation conversation;
            const std::uint32_t length = length_for(previous, next);
            if (!starts(previous)) {
                conversation.say(previous.kind == Kind::send ? requests[0] : requests[6], length);
            }
            conversation.say(previous, length);
            CHECK(conversation.peer.says().find("NAK") == std::string::npos);
            conversation.say(next, 4 * mtu);
            const std::string said = conversation.peer.says();
            const std::string violation =
                "NAK_INVALID_REQUEST psn=+" + std::to_string(packets_before(previous) + 1) + " msn=";
            if (may_follow(previous, next)) {
                CHECK(said.find("NAK") == std::string::npos);
                CHECK(conversation.peer.nic.state() == engine::QpState::rts);
            } else {
                CHECK(said.find(violation) == 0);
                CHECK(conversation.peer.nic.state() == engine::QpState::error);
            }
        }
    }
}

TEST_CASE("5.8.3: a connection begins with a beginning") {
    for (const Request& first : requests) {
        CAPTURE(name_of(first.opcode));
        Conversation conversation;
        conversation.say(first, 4 * mtu);
        const bool refused = conversation.peer.says().find("NAK_INVALID_REQUEST psn=+0 msn=0") == 0;
        CHECK(refused == !starts(first));
    }
}

}  // namespace rocem::test
