// A hostile peer and a hostile caller at once: packets and commands drawn at random, in any order, with
// client memory that answers late, with a fault, or not at all. Nothing is expected but that the engine keeps
// its own rules (Node::violations), leaks nothing, and serves another connection as if nothing had happened.
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

using engine::QpState;

constexpr std::uint32_t opcode_count = 0x15;  // all that RC has and the harness can write

class Walk {
 public:
    explicit Walk(std::uint64_t seed)
        : random_(seed), story_(options(seed)), at_b_(story_.b.buffer(4096)), at_a_(story_.a.filled(4096)) {}

    void step() {
        switch (draw(32)) {
            case 0:
                story_.b.memory.set_mode({draw(4), true});
                break;
            case 1:
                draw(2) == 0 ? story_.b.memory.hold() : story_.b.memory.release();
                break;
            case 2:
                draw(3) == 0 ? story_.b.memory.fault_at_operation(at_b_.region, draw(5))
                             : story_.b.memory.heal(at_b_.region);
                break;
            case 3:
                if (draw(8) == 0) modify();
                break;
            case 4:
            case 11:
                if (story_.b.state() == QpState::error || draw(40) == 0) reconnect();
                break;
            case 5:
            case 6:
                if (story_.b.state() != QpState::reset) story_.b.post(receive(draw(100), local(at_b_)));
                break;
            case 7:
            case 8:
            case 9:
                if (takes_sends()) story_.b.post(any_request(at_b_));
                break;
            case 10:
                story_.run_for(engine::Duration(draw(2'000'000)));
                break;
            default:
                story_.b.deliver(write_frame(packet(), story_.a.address, story_.b.address));
                story_.step_turns(draw(3));
                break;
        }
    }

    // The second connection still works, and everything that was begun can be ended.
    void finish() {
        story_.b.memory.release();
        story_.b.memory.heal(at_b_.region);
        story_.a.take_sent();
        story_.a.post(write(77, at_a_.slice(0, 1024), at_b_.at()), 1);
        story_.a.post(read(78, at_a_.slice(2048, 1024), at_b_.at()), 1);
        story_.run_for(100ms);
        std::string done;
        for (const auto& completion : story_.a.take_sent()) {
            if (completion.qp == story_.a.qp(1)) done += describe(completion) + "\n";
        }
        CHECK(done == "wr=77 RDMA_WRITE ok\nwr=78 RDMA_READ ok len=1024\n");
        CHECK(story_.b.engine.destroy_qp(story_.b.qp(0)) == engine::Error::none);
        story_.b.forget_posts(0);
        story_.run_for(1ms);
        CHECK_FALSE(story_.b.engine.exists(story_.b.qp(0)));
        CHECK(story_.b.memory.guards_intact(at_b_.region));
    }

 private:
    static StoryOptions options(std::uint64_t seed) {
        StoryOptions options;
        options.seed = seed;
        options.mtu = 256;
        options.connections = 2;
        options.timeout = 3;
        options.retry_cnt = 3;
        options.max_dest_rd_atomic = 4;
        options.first_psn = 0xfffff0;
        options.window_packets = 8;
        options.dma_ops_max = 64;
        options.tx_frames_max = 32;
        options.lazy_receives = seed % 2 == 0;
        return options;
    }

    std::uint32_t draw(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

    SgeList local(const Buffer& buffer) {
        SgeList sges;
        for (std::uint32_t i = draw(4); i > 0; --i) {
            engine::Sge sge = buffer.slice(draw(2048), draw(1500))[0];
            if (draw(40) == 0) sge.l_key = protocol::LKey(draw(0xffffffff));
            sges.push_back(sge);
        }
        return sges;
    }

    SendRequest any_request(const Buffer& buffer) {
        SendRequest request = make_request(static_cast<engine::WrOpcode>(draw(7)), draw(100), local(buffer),
                                           {at_a_.va + draw(2048), at_a_.mr.r_key});
        request.fields.fence = draw(4) == 0;
        request.fields.signaled = draw(4) != 0;
        const bool atomic = request.fields.opcode >= engine::WrOpcode::compare_swap;
        if (atomic && draw(4) != 0) request.sges = buffer.slice(draw(4000), 8);
        return request;
    }

    // Mostly what a peer might say at this point, so that the walk does not end with its first step.
    RocePacket packet() {
        const engine::QpAttributes state =
            story_.b.engine.query_qp(story_.b.qp(0)).value_or(engine::QpAttributes{});
        const bool wild = draw(12) == 0;
        constexpr Op usual[] = {Op::send_only,          Op::write_only,        Op::write_only,
                                Op::read_request,       Op::fetch_add,         Op::acknowledge,
                                Op::acknowledge,        Op::compare_swap,      Op::read_request,
                                Op::read_response_only, Op::atomic_acknowledge};
        RocePacket packet;
        packet.opcode = wild ? static_cast<Op>(draw(opcode_count)) : usual[draw(std::size(usual))];
        if (message_left_ > 0 && !wild) {
            packet.opcode = --message_left_ == 0 ? Op::send_last : Op::send_middle;
        } else if (!wild && draw(10) == 0) {
            packet.opcode = Op::send_first;
            message_left_ = 1 + draw(4);
        }
        const bool response = packet.is_response();
        const std::uint32_t around = response ? state.sq_psn.value() - 1 - draw(6) : state.rq_psn.value();
        packet.psn = (around + (draw(6) == 0 ? draw(9) - 4 : 0)) & psn_mask;
        packet.dest_qpn = number_of(story_.b.qpn(0));
        packet.ack_request = draw(2) == 0;
        packet.solicited_event = draw(8) == 0;
        const bool full = packet.opcode == Op::send_first || packet.opcode == Op::send_middle;
        const bool none = packet.opcode == Op::read_request || packet.opcode >= Op::acknowledge;
        packet.payload = pattern(wild ? draw(258) : none ? 0 : full ? 256 : 1 + draw(256));
        packet.pad_count = static_cast<std::uint8_t>(-packet.payload.size() & 3u);
        packet.va = at_b_.va + draw(256) * 8 + (wild ? draw(4000) : 0);
        packet.r_key = number_of(at_b_.mr.r_key) ^ (wild ? draw(2) << 8 : 0u);
        packet.dma_length = packet.opcode == Op::read_request
                                ? draw(1500)
                                : static_cast<std::uint32_t>(packet.payload.size());
        if (wild) packet.dma_length = draw(3) == 0 ? draw(0xffffffff) : draw(1200);
        constexpr std::uint8_t syndromes[] = {0x00, 0x21, 0x60, 0x60, 0x61, 0x63, 0x7f, 0x40};
        packet.syndrome = response && draw(8) == 0 ? syndromes[draw(wild ? 8 : 4)] : syndrome_ack;
        return packet;
    }

    void modify() {
        engine::QpAttributes wanted = story_.attributes(Side::b, 0);
        wanted.state = static_cast<QpState>(draw(8));
        wanted.max_dest_rd_atomic = static_cast<std::uint8_t>(draw(20));
        wanted.max_rd_atomic = static_cast<std::uint8_t>(draw(20));
        wanted.timeout = static_cast<std::uint8_t>(draw(8));
        wanted.retry_cnt = static_cast<std::uint8_t>(draw(9));
        std::uint32_t mask = required_mask(wanted.state);
        if (draw(2) == 0) mask = engine::attr_max_dest_rd_atomic | engine::attr_max_rd_atomic;
        if (draw(8) == 0) mask ^= 1u << draw(26);
        story_.b.engine.modify_qp(story_.now(), story_.b.qp(0), wanted, mask);
        if (!takes_sends()) story_.b.forget_posts(0);
    }

    // The owner's part: what the state does not allow is not posted.
    bool takes_sends() const {
        const QpState state = story_.b.state();
        return state != QpState::reset && state != QpState::init && state != QpState::rtr;
    }

    // Both ends, so that A's engine does not answer B's requests with silence for ever.
    void reconnect() {
        for (const Side side : {Side::a, Side::b}) {
            REQUIRE(story_.modify(side, QpState::reset) == engine::Error::none);
            story_.node(side).forget_posts(0);
        }
        engine::QpAttributes wanted = story_.attributes(Side::a, 0);
        const protocol::Psn first(draw(0x1000000));
        message_left_ = 0;
        for (const Side side : {Side::a, Side::b}) {
            wanted = story_.attributes(side, 0);
            wanted.sq_psn = wanted.rq_psn = first;
            for (const auto state : {QpState::init, QpState::rtr, QpState::rts}) {
                wanted.state = state;
                REQUIRE(story_.node(side).engine.modify_qp(story_.now(), story_.node(side).qp(0), wanted,
                                                           required_mask(state)) == engine::Error::none);
            }
        }
    }

    std::mt19937_64 random_;
    Story story_;
    Buffer at_b_;
    Buffer at_a_;
    unsigned message_left_ = 0;  // packets of the SEND under way
};

}  // namespace

TEST_CASE("random walk: a hostile peer and a hostile caller break nothing but their own connection") {
    const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{41}));
    CAPTURE(seed);
    Walk walk(seed);
    for (int step = 0; step < 3'000; ++step)
        walk.step();
    walk.finish();
}

}  // namespace rocem::test
