// modify_qp against rocev2.md 5.10, exhaustively: every pair of states, every mask over the bits that the
// pair knows, and every bit that it does not know. Expected values stand in qp_transitions.txt.
#include <catch2/catch.hpp>
#include <optional>

#include "tests/conformance/transition_table.hpp"
#include "tests/support/story.hpp"

namespace rocem::test {
namespace {

using engine::Error;
using engine::QpState;

constexpr std::uint32_t all_bits = 0x1fffffu | engine::attr_rate_limit;
constexpr QpState rc_states[] = {QpState::reset, QpState::init, QpState::rtr,
                                 QpState::rts,   QpState::sqd,  QpState::error};
constexpr QpState targets[] = {QpState::reset, QpState::init, QpState::rtr,  QpState::rts,
                               QpState::sqd,   QpState::sqe,  QpState::error};

bool same_attributes(const engine::QpAttributes& x, const engine::QpAttributes& y) {
    return x.state == y.state && x.en_sqd_async_notify == y.en_sqd_async_notify &&
           x.sq_draining == y.sq_draining && x.access_flags == y.access_flags &&
           x.pkey_index == y.pkey_index && x.port_num == y.port_num && x.av.dgid == y.av.dgid &&
           x.av.dmac == y.av.dmac && x.av.flow_label == y.av.flow_label &&
           x.av.sgid_index == y.av.sgid_index && x.av.hop_limit == y.av.hop_limit &&
           x.av.traffic_class == y.av.traffic_class && x.av.sl == y.av.sl && x.path_mtu == y.path_mtu &&
           x.timeout == y.timeout && x.retry_cnt == y.retry_cnt && x.rnr_retry == y.rnr_retry &&
           x.min_rnr_timer == y.min_rnr_timer && x.max_rd_atomic == y.max_rd_atomic &&
           x.max_dest_rd_atomic == y.max_dest_rd_atomic && x.rq_psn == y.rq_psn && x.sq_psn == y.sq_psn &&
           x.dest_qpn == y.dest_qpn;
}

// One QP that is brought to any state and asked for any transition.
class Subject {
 public:
    Subject() : nic_(node_settings({}, Side::a)) {
        engine::QpInit init;
        init.pd = nic_.pd;
        init.send_cq = nic_.send_cq;
        init.recv_cq = nic_.recv_cq;
        nic_.add_qp(init);
        wanted_ = attributes_of({}, address_of(2), protocol::Qpn(0x123));
    }

    void bring_to(QpState state) {
        if (nic_.state() == state && fresh_) return;
        REQUIRE(modify(QpState::reset, engine::attr_state) == Error::none);
        fresh_ = true;
        if (state == QpState::reset) return;
        for (const QpState step : {QpState::init, QpState::rtr, QpState::rts}) {
            if (nic_.state() == state) return;
            REQUIRE(modify(step, required_mask(step)) == Error::none);
        }
        if (state != QpState::rts) REQUIRE(modify(state, engine::attr_state) == Error::none);
        settle();
    }

    // True if the engine allowed it. Checks that a refusal is EINVAL and changes nothing.
    bool try_transition(QpState from, QpState to, std::uint32_t mask) {
        bring_to(from);
        const engine::QpAttributes before = query();
        wanted_.cur_state = from;
        const Error error = modify(to, mask);
        if (error == Error::none) {
            fresh_ = false;
            return true;
        }
        if (error != Error::invalid || !same_attributes(before, query())) FAIL("a refusal that is not clean");
        return false;
    }

    Error modify(QpState to, std::uint32_t mask) {
        wanted_.state = to;
        return nic_.engine.modify_qp(Story::start, nic_.qp(), wanted_, mask);
    }
    engine::QpAttributes query() const { return *nic_.engine.query_qp(nic_.qp()); }
    engine::QpAttributes& wanted() { return wanted_; }
    QpState state() const { return nic_.state(); }
    void settle() {
        while (nic_.turn(Story::start)) {
        }
    }

 private:
    Node nic_;
    engine::QpAttributes wanted_;
    bool fresh_ = false;
};

std::vector<std::uint32_t> bits_of(std::uint32_t mask) {
    std::vector<std::uint32_t> bits;
    for (unsigned i = 0; i < 32; ++i) {
        if ((mask >> i & 1u) != 0) bits.push_back(1u << i);
    }
    return bits;
}

// The i-th subset of a set of bits.
std::uint32_t subset(const std::vector<std::uint32_t>& bits, std::size_t i) {
    std::uint32_t mask = 0;
    for (std::size_t bit = 0; bit < bits.size(); ++bit) {
        if ((i >> bit & 1u) != 0) mask |= bits[bit];
    }
    return mask;
}

const TransitionTable& rc_table() {
    static const TransitionTable table = read_transitions(ROCEM_CONFORMANCE_DIR "/qp_transitions.txt", "RC");
    return table;
}

}  // namespace

TEST_CASE("5.10: the table names every transition that RC has") {
    // Counted by hand in rocev2.md: 9 rows of the first states, and RESET and ERR from everywhere.
    CHECK(rc_table().size() == 21);
    CHECK(read_transitions(ROCEM_CONFORMANCE_DIR "/qp_transitions.txt", "UD").size() == 22);
}

TEST_CASE("5.10: a transition of the table is allowed exactly with all required and no foreign bits") {
    Subject subject;
    for (const QpState from : rc_states) {
        for (const QpState to : targets) {
            const auto row = rc_table().find({from, to});
            if (row == rc_table().end()) continue;
            const Transition& rule = row->second;
            CAPTURE(name_of(from), name_of(to));
            const auto known = bits_of(rule.required | rule.optional);
            for (std::size_t i = 0; i < std::size_t{1} << known.size(); ++i) {
                const std::uint32_t mask = subset(known, i) | engine::attr_state;
                const bool legal = (mask & rule.required) == rule.required;
                if (subject.try_transition(from, to, mask) != legal) {
                    CAPTURE(mask);
                    FAIL_CHECK((legal ? "refused" : "allowed"));
                } else if (legal && subject.state() != to) {
                    FAIL_CHECK("allowed without effect");
                }
            }
        }
    }
}

TEST_CASE("5.10: one foreign bit spoils a legal mask") {
    Subject subject;
    for (const QpState from : rc_states) {
        for (const QpState to : targets) {
            const auto row = rc_table().find({from, to});
            if (row == rc_table().end()) continue;
            const Transition& rule = row->second;
            for (const std::uint32_t bit :
                 bits_of(all_bits & ~(rule.required | rule.optional | engine::attr_state))) {
                CAPTURE(name_of(from), name_of(to), bit);
                CHECK_FALSE(subject.try_transition(from, to, engine::attr_state | rule.required | bit));
                CHECK_FALSE(subject.try_transition(from, to,
                                                   engine::attr_state | rule.required | rule.optional | bit));
            }
        }
    }
}

TEST_CASE("5.10: a transition that is not in the table is refused with every mask that any row knows") {
    Subject subject;
    for (const QpState from : rc_states) {
        for (const QpState to : targets) {
            if (rc_table().count({from, to}) != 0) continue;
            CAPTURE(name_of(from), name_of(to));
            CHECK_FALSE(subject.try_transition(from, to, engine::attr_state));
            CHECK_FALSE(subject.try_transition(from, to, all_bits));
            for (const auto& [pair, rule] : rc_table()) {
                CHECK_FALSE(subject.try_transition(from, to, engine::attr_state | rule.required));
                CHECK_FALSE(
                    subject.try_transition(from, to, engine::attr_state | rule.required | rule.optional));
            }
        }
    }
}

TEST_CASE("5.10: without STATE a modify stays in the current state") {
    Subject subject;
    for (const QpState from : rc_states) {
        const auto row = rc_table().find({from, from});
        const std::uint32_t known = row == rc_table().end() ? 0 : row->second.optional;
        for (const std::uint32_t bit : bits_of(all_bits & ~engine::attr_state)) {
            CAPTURE(name_of(from), bit);
            const bool legal = row != rc_table().end() && (bit & ~known) == 0;
            // The state of the attributes is not looked at.
            CHECK(subject.try_transition(from, QpState::sqe, bit) == legal);
            CHECK(subject.state() == from);
        }
    }
}

TEST_CASE("5.10: a value out of range is EINVAL and changes nothing") {
    using Attributes = engine::QpAttributes;
    struct Wrong {
        const char* name;
        QpState from, to;
        std::uint32_t mask;
        void (*spoil)(Attributes&);
    };
    const std::uint32_t init = required_mask(QpState::init);
    const std::uint32_t rtr = required_mask(QpState::rtr);
    const std::uint32_t rts = required_mask(QpState::rts);
    const Wrong rows[] = {
        {"port 0", QpState::reset, QpState::init, init, [](Attributes& a) { a.port_num = 0; }},
        {"port 2", QpState::reset, QpState::init, init, [](Attributes& a) { a.port_num = 2; }},
        {"pkey_index", QpState::reset, QpState::init, init, [](Attributes& a) { a.pkey_index = 1; }},
        {"path_mtu above active", QpState::init, QpState::rtr, rtr,
         [](Attributes& a) { a.path_mtu = path_mtu_of(2048); }},
        {"AV without GRH", QpState::init, QpState::rtr, rtr, [](Attributes& a) { a.av.is_global = false; }},
        {"sgid_index", QpState::init, QpState::rtr, rtr, [](Attributes& a) { a.av.sgid_index = 9; }},
        {"min_rnr_timer 32", QpState::init, QpState::rtr, rtr, [](Attributes& a) { a.min_rnr_timer = 32; }},
        {"max_dest_rd_atomic", QpState::init, QpState::rtr, rtr,
         [](Attributes& a) { a.max_dest_rd_atomic = 17; }},
        {"timeout 32", QpState::rtr, QpState::rts, rts, [](Attributes& a) { a.timeout = 32; }},
        {"retry_cnt 8", QpState::rtr, QpState::rts, rts, [](Attributes& a) { a.retry_cnt = 8; }},
        {"rnr_retry 8", QpState::rtr, QpState::rts, rts, [](Attributes& a) { a.rnr_retry = 8; }},
        {"max_rd_atomic", QpState::rtr, QpState::rts, rts, [](Attributes& a) { a.max_rd_atomic = 17; }},
        {"min_rnr_timer 32 in RTS", QpState::rts, QpState::rts, engine::attr_min_rnr_timer,
         [](Attributes& a) { a.min_rnr_timer = 32; }},
        {"timeout 32 in SQD", QpState::sqd, QpState::sqd, engine::attr_timeout,
         [](Attributes& a) { a.timeout = 32; }},
    };
    for (const Wrong& row : rows) {
        CAPTURE(row.name);
        Subject subject;
        const Attributes good = subject.wanted();
        subject.bring_to(row.from);
        row.spoil(subject.wanted());
        CHECK_FALSE(subject.try_transition(row.from, row.to, row.mask));
        subject.wanted() = good;
        CHECK(subject.try_transition(row.from, row.to, row.mask));
    }
}

TEST_CASE("5.10: query returns what was set, RESET clears it") {
    Subject subject;
    engine::QpAttributes& wanted = subject.wanted();
    wanted.sq_psn = protocol::Psn(0xabcdef);
    wanted.rq_psn = protocol::Psn(0x123456);
    wanted.timeout = 31;
    wanted.retry_cnt = 5;
    wanted.rnr_retry = 6;
    wanted.min_rnr_timer = 31;
    wanted.access_flags = engine::access_remote_read;
    wanted.max_rd_atomic = 3;
    wanted.max_dest_rd_atomic = 2;
    subject.bring_to(QpState::rts);
    const engine::QpAttributes found = subject.query();
    CHECK(found.state == QpState::rts);
    CHECK(found.sq_psn == wanted.sq_psn);
    CHECK(found.rq_psn == wanted.rq_psn);
    CHECK(found.timeout == 31);
    CHECK(found.retry_cnt == 5);
    CHECK(found.rnr_retry == 6);
    CHECK(found.min_rnr_timer == 31);
    CHECK(found.access_flags == engine::access_remote_read);
    CHECK(found.max_rd_atomic == 3);
    CHECK(found.max_dest_rd_atomic == 2);
    CHECK(found.dest_qpn == wanted.dest_qpn);
    CHECK(found.av.dgid == wanted.av.dgid);
    CHECK(found.path_mtu == wanted.path_mtu);
    REQUIRE(subject.modify(QpState::reset, engine::attr_state) == Error::none);
    CHECK(subject.query().state == QpState::reset);
}

TEST_CASE("5.10: SQD may change what RTS may not, and the change works") {
    Subject subject;
    subject.bring_to(QpState::sqd);
    subject.wanted().timeout = 3;
    subject.wanted().retry_cnt = 1;
    REQUIRE(subject.modify(QpState::sqd, engine::attr_timeout | engine::attr_retry_cnt) == Error::none);
    CHECK(subject.query().timeout == 3);
    CHECK(subject.query().retry_cnt == 1);
    REQUIRE(subject.modify(QpState::rts, engine::attr_state) == Error::none);
    CHECK(subject.query().timeout == 3);
}

}  // namespace rocem::test
