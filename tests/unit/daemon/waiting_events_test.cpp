#include "daemon/waiting_events.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace rocem::daemon;

namespace {

constexpr std::uint32_t cq_err = 0;        // IBV_EVENT_CQ_ERR
constexpr std::uint32_t qp_fatal = 1;      // IBV_EVENT_QP_FATAL
constexpr std::uint32_t comm_est = 4;      // IBV_EVENT_COMM_EST
constexpr std::uint32_t sq_drained = 5;    // IBV_EVENT_SQ_DRAINED
constexpr std::uint32_t device_fatal = 8;  // IBV_EVENT_DEVICE_FATAL

rocem_abi_async_event event(std::uint32_t type, std::uint32_t slot, std::uint32_t epoch = 1) {
    return {.type = type, .slot = slot, .epoch = epoch, .reserved = 0};
}

// (type, slot) in the order in which they leave.
std::vector<std::pair<std::uint32_t, std::uint32_t>> drain(WaitingEvents& events) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (; !events.empty(); events.pop_front())
        out.emplace_back(events.front().type, events.front().slot);
    return out;
}

using List = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace

TEST_CASE("waiting events leave in the order in which they came") {
    WaitingEvents events;
    CHECK(events.empty());
    events.add(EventObject::qp, event(sq_drained, 9));
    events.add(EventObject::cq, event(cq_err, 2));
    events.add(EventObject::qp, event(comm_est, 1));
    CHECK(drain(events) == List{{sq_drained, 9}, {cq_err, 2}, {comm_est, 1}});
}

TEST_CASE("an event that waits is not added again, and keeps its place") {
    WaitingEvents events;
    events.add(EventObject::qp, event(sq_drained, 1));
    events.add(EventObject::qp, event(sq_drained, 2));
    events.add(EventObject::qp, event(sq_drained, 1));
    events.add(EventObject::qp, event(qp_fatal, 1));
    CHECK(events.size() == 3);
    CHECK(drain(events) == List{{sq_drained, 1}, {sq_drained, 2}, {qp_fatal, 1}});
    events.add(EventObject::qp, event(sq_drained, 1));
    CHECK(events.size() == 1);
}

TEST_CASE("a CQ and a QP of the same slot are two objects") {
    WaitingEvents events;
    events.add(EventObject::qp, event(qp_fatal, 3));
    events.add(EventObject::cq, event(cq_err, 3));
    events.add(EventObject::nic, event(device_fatal, 0));
    events.forget(EventObject::qp, 3);
    CHECK(drain(events) == List{{cq_err, 3}, {device_fatal, 0}});
}

TEST_CASE("what is forgotten comes back with its new epoch only") {
    WaitingEvents events;
    events.add(EventObject::qp, event(comm_est, 3, 1));
    events.add(EventObject::qp, event(UINT32_MAX, 3, 1));
    events.add(EventObject::qp, event(comm_est, 4, 1));
    events.forget(EventObject::qp, 3);
    events.forget(EventObject::qp, 77);
    events.add(EventObject::qp, event(comm_est, 3, 2));
    REQUIRE(events.size() == 2);
    CHECK(events.front().slot == 4);
    events.pop_front();
    CHECK(events.front().epoch == 2);
    events.clear();
    CHECK(events.empty());
    events.add(EventObject::qp, event(comm_est, 3, 2));
    CHECK(events.size() == 1);
}
