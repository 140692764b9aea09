// A session against a client that is played by the test: it writes what it likes into the shared memory.
#include "daemon/client_session.hpp"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "ipc/doorbell.hpp"
#include "ipc/shared_region.hpp"

using namespace rocem;
using namespace rocem::daemon;
using namespace std::chrono_literals;

namespace {

constexpr engine::Time now(1s);
constexpr ipc::QpCaps caps{.max_send_wr = 4,
                           .max_recv_wr = 4,
                           .max_send_sge = 2,
                           .max_recv_sge = 2,
                           .max_inline_data = 64,
                           .reserved = 0};

engine::EngineSettings nic_settings() {
    engine::EngineSettings settings;
    settings.mac = {{2, 0, 0, 0, 0, 1}};
    settings.gid_table = {protocol::Gid::from_ipv4({{10, 0, 0, 1}})};
    return settings;
}

// One client: its session segment, sockets, one CQ and one QP with memory that both sides see.
struct Client {
    Client(SessionId id, NicCore& nic)
        : core(nic),
          segment_memory(ipc::make_region("test", sizeof(ipc::SessionSegment))),
          cq_memory(ipc::make_region("test", ipc::cq_layout(4).bytes)),
          qp_memory(ipc::make_region("test", ipc::qp_layout(caps).bytes)),
          events(ipc::make_event_sockets()),
          channel(ipc::make_event_sockets()),
          session(
              id, nic,
              {.nic = 0, .segment = &segment(), .doorbell = -1, .event_socket = events.daemon_end.get()}) {}

    void make_objects() {
        pd = std::get<PdMade>(session.alloc_pd()).pd;
        cq = std::get<CqMade>(session.create_cq(
            {.cqe = 4, .object = cq_memory.mapping.data(), .channel = channel.daemon_end.get()}));
        qp = std::get<QpMade>(session.create_qp({.pd = pd,
                                                 .send_cq_slot = cq.slot,
                                                 .recv_cq_slot = cq.slot,
                                                 .sq_sig_all = false,
                                                 .caps = caps,
                                                 .object = qp_memory.mapping.data()}));
    }

    ipc::SessionSegment& segment() {
        return *reinterpret_cast<ipc::SessionSegment*>(segment_memory.mapping.data());
    }
    ipc::QpHead& qp_head() { return *reinterpret_cast<ipc::QpHead*>(qp_memory.mapping.data()); }
    ipc::CqHead& cq_head() { return *reinterpret_cast<ipc::CqHead*>(cq_memory.mapping.data()); }

    ModifyQp command(std::uint32_t mask) {
        ModifyQp modify;
        modify.slot = qp.slot;
        modify.epoch = qp.epoch;
        modify.mask = mask | engine::attr_state;
        modify.send_producer = qp_head().send.producer;
        modify.recv_producer = qp_head().recv.producer;
        return modify;
    }
    Answer to_init() {
        ModifyQp modify = command(engine::attr_pkey_index | engine::attr_port | engine::attr_access_flags);
        modify.attributes.state = engine::QpState::init;
        return session.modify_qp(now, modify);
    }
    Answer to(engine::QpState state) {
        ModifyQp modify = command(0);
        modify.attributes.state = state;
        return session.modify_qp(now, modify);
    }

    void post_recv(std::uint64_t wr_id) {
        const ipc::QpLayout layout = ipc::qp_layout(caps);
        ipc::RecvWqe wqe{};
        wqe.wr_id = wr_id;
        const std::uint32_t index = qp_head().recv.producer;
        std::memcpy(
            qp_memory.mapping.data() + layout.recv.offset + index % layout.recv.slots * layout.recv.stride,
            &wqe, sizeof(wqe));
        ipc::store_shared(qp_head().recv.producer, index + 1, std::memory_order_release);
        ipc::mark(segment().recv_dirty, qp.slot);
    }
    void post_send(const ipc::SendWqe& wqe) {
        const ipc::QpLayout layout = ipc::qp_layout(caps);
        const std::uint32_t index = qp_head().send.producer;
        std::memcpy(
            qp_memory.mapping.data() + layout.send.offset + index % layout.send.slots * layout.send.stride,
            &wqe, sizeof(wqe));
        ipc::store_shared(qp_head().send.producer, index + 1, std::memory_order_release);
        ipc::mark(segment().send_dirty, qp.slot);
    }
    ipc::Cqe cqe(std::uint32_t index) {
        const ipc::CqLayout layout = ipc::cq_layout(4);
        ipc::Cqe entry;
        std::memcpy(&entry, cq_memory.mapping.data() + layout.ring.offset + index % 4 * layout.ring.stride,
                    sizeof(entry));
        return entry;
    }
    void deliver() {
        engine::WorkCompletion completion;
        while (core.engine.poll_completion(completion)) {
            const SlotOwner owner = core.cq_owners.at(completion.cq.index);
            owner.session->push_completion(now, owner.slot, completion);
        }
        session.publish();
        engine::AsyncEvent event;
        while (core.engine.poll_event(event))
            session.push_event(event);
    }
    // The only QP's.
    engine::QpHandle qp_handle() const {
        engine::QpHandle handle{.index = 0, .generation = 1};
        while (!core.engine.exists(handle))
            ++handle.generation;
        return handle;
    }
    std::optional<rocem_abi_async_event> async_event() {
        rocem_abi_async_event event{};
        if (::recv(events.client_end.get(), &event, sizeof(event), MSG_DONTWAIT) != sizeof(event)) return {};
        return event;
    }
    std::optional<rocem_abi_cq_event> cq_event() {
        rocem_abi_cq_event event{};
        if (::recv(channel.client_end.get(), &event, sizeof(event), MSG_DONTWAIT) != sizeof(event)) return {};
        return event;
    }

    NicCore& core;
    ipc::SharedRegion segment_memory;
    ipc::SharedRegion cq_memory;
    ipc::SharedRegion qp_memory;
    ipc::SocketPair events;
    ipc::SocketPair channel;
    ClientSession session;
    std::uint32_t pd = 0;
    CqMade cq;
    QpMade qp;
};

struct Rig {
    Rig() : core(nic_settings(), engine::Seed{}, 64), client(1, core) { client.make_objects(); }

    NicCore core;
    Client client;
};

int error_of(const Answer& answer) {
    const auto* refusal = std::get_if<Refusal>(&answer);
    return refusal == nullptr ? 0 : refusal->error;
}

}  // namespace

TEST_CASE("receives of a dirty queue reach the engine, others are not looked at") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    CHECK_FALSE(client.session.drain_receives(now));
    client.post_recv(1);
    client.post_recv(2);
    CHECK(client.session.has_posts());
    CHECK(client.session.drain_receives(now));
    CHECK_FALSE(client.session.has_posts());
    CHECK(client.qp_head().recv.consumer == 2);
    CHECK_FALSE(client.session.violation());
}

TEST_CASE("a producer index outside its window is a violation") {
    for (const std::uint32_t index : {5u, 0x80000000u, UINT32_MAX}) {
        CAPTURE(index);
        Rig recv_rig;
        REQUIRE(error_of(recv_rig.client.to_init()) == 0);
        recv_rig.client.qp_head().recv.producer = index;
        ipc::mark(recv_rig.client.segment().recv_dirty, recv_rig.client.qp.slot);
        recv_rig.client.session.drain_receives(now);
        REQUIRE(recv_rig.client.session.violation());
        CHECK(recv_rig.client.session.violation()->find("receive producer index") != std::string::npos);

        Rig send_rig;
        send_rig.client.qp_head().send.producer = index;
        ipc::mark(send_rig.client.segment().send_dirty, send_rig.client.qp.slot);
        send_rig.client.session.drain_sends(now);
        REQUIRE(send_rig.client.session.violation());
    }
}

TEST_CASE("a bad request in a ring is a violation that names it") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    REQUIRE(error_of(client.to(engine::QpState::error)) == 0);
    ipc::SendWqe wqe{};
    wqe.opcode = 200;
    client.post_send(wqe);
    client.session.drain_sends(now);
    REQUIRE(client.session.violation());
    CHECK(client.session.violation()->find("send 0: the opcode is not one of") != std::string::npos);
}

TEST_CASE("a send posted in a state that takes none is a violation") {
    Rig rig;
    rig.client.post_send(ipc::SendWqe{});
    rig.client.session.drain_sends(now);
    CHECK(rig.client.session.violation());
}

TEST_CASE("marks of slots that name no queue are ignored") {
    Rig rig;
    for (std::uint32_t slot = 0; slot < ipc::queue_slots_max; ++slot) {
        ipc::mark(rig.client.segment().send_dirty, slot);
        ipc::mark(rig.client.segment().recv_dirty, slot);
    }
    rig.client.session.drain_receives(now);
    rig.client.session.drain_sends(now);
    CHECK_FALSE(rig.client.session.violation());
}

TEST_CASE("posts to a QP in ERR come back flushed, in order, with an event for an armed CQ") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    client.post_recv(11);
    client.post_recv(12);
    client.session.drain_receives(now);
    ipc::arm_cq(client.cq_head(), ROCEM_ABI_ARM_ANY);
    REQUIRE(error_of(client.to(engine::QpState::error)) == 0);
    ipc::SendWqe send{};
    send.wr_id = 21;
    client.post_send(send);
    client.session.drain_sends(now);
    client.deliver();
    CHECK(client.cq_head().ring.producer == 3);
    CHECK(client.cqe(0).wr_id == 11);
    CHECK(client.cqe(1).wr_id == 12);
    CHECK(client.cqe(2).wr_id == 21);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(client.cqe(i).status == 5);  // IBV_WC_WR_FLUSH_ERR
        CHECK(client.cqe(i).qpn == client.qp.qpn.value());
        CHECK(client.cqe(i).qp_epoch == client.qp.epoch);
    }
    CHECK(client.cqe(1).wqe_index == 1);
    const auto event = client.cq_event();
    REQUIRE(event);
    CHECK(event->cq_slot == client.cq.slot);
    CHECK(event->cq_epoch == client.cq.epoch);
    CHECK_FALSE(client.cq_event());  // one event for one arm
    CHECK(client.cq_head().arm == ROCEM_ABI_ARM_NONE);
}

TEST_CASE("more posts than the engine takes wait in the ring, and nothing is lost") {
    engine::EngineSettings settings = nic_settings();
    settings.queued_wqes_max = 2;
    NicCore core(settings, engine::Seed{}, 64);
    Client client(1, core);
    client.make_objects();
    REQUIRE(error_of(client.to_init()) == 0);
    for (std::uint64_t i = 0; i < 4; ++i)
        client.post_recv(i);
    client.session.drain_receives(now);
    CHECK(client.qp_head().recv.consumer == 2);
    CHECK_FALSE(client.session.has_posts());  // the engine will ask: no busy waiting
    REQUIRE(error_of(client.to(engine::QpState::error)) == 0);
    client.session.drain_queue(now, client.qp.slot, true, true);
    client.deliver();
    CHECK(client.cq_head().ring.producer == 4);
    for (std::uint32_t i = 0; i < 4; ++i)
        CHECK(client.cqe(i).wr_id == i);
}

TEST_CASE("a consumer index that the client never earned is a violation") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    client.cq_head().ring.consumer = 7;
    client.post_recv(1);
    client.session.drain_receives(now);
    REQUIRE(error_of(client.to(engine::QpState::error)) == 0);
    client.deliver();
    REQUIRE(client.session.violation());
    CHECK(client.session.violation()->find("consumer index") != std::string::npos);
}

TEST_CASE("a CQ that is full dies with one event") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    REQUIRE(error_of(client.to(engine::QpState::error)) == 0);
    for (std::uint64_t i = 0; i < 4; ++i)
        client.post_recv(i);
    client.session.drain_receives(now);
    client.deliver();
    CHECK(client.cq_head().ring.producer == 4);
    client.post_recv(4);
    client.session.drain_receives(now);
    client.deliver();
    client.deliver();
    CHECK(client.cq_head().ring.producer == 4);
    const auto event = client.async_event();
    REQUIRE(event);
    CHECK(event->type == 0);  // IBV_EVENT_CQ_ERR
    CHECK(event->slot == client.cq.slot);
    CHECK(event->epoch == client.cq.epoch);
    CHECK_FALSE(client.session.violation());
}

TEST_CASE("events that the socket has no room for wait, in order, until the client has read") {
    Rig rig;
    Client& client = rig.client;
    const int socket = client.events.daemon_end.get();
    const rocem_abi_async_event filler{.type = 99, .slot = 0, .epoch = 0, .reserved = 0};
    std::size_t fillers = 0;
    while (ipc::send_event(socket, &filler, sizeof(filler)) == ipc::Sent::yes)
        ++fillers;
    const engine::AsyncEvent communication{
        .type = engine::EventType::communication_established, .qp = client.qp_handle(), .cq = {}};
    const engine::AsyncEvent drained{
        .type = engine::EventType::sq_drained, .qp = client.qp_handle(), .cq = {}};
    CHECK_FALSE(client.session.has_waiting_events());
    client.session.push_event(communication);
    client.session.push_event(drained);
    client.session.push_event(communication);
    client.session.send_waiting_events();
    CHECK(client.session.has_waiting_events());
    for (std::size_t i = 0; i < fillers; ++i)
        CHECK(client.async_event()->type == filler.type);
    CHECK_FALSE(client.async_event());
    client.session.send_waiting_events();
    CHECK_FALSE(client.session.has_waiting_events());
    CHECK(client.async_event()->type == 4);  // IBV_EVENT_COMM_EST
    CHECK(client.async_event()->type == 5);  // IBV_EVENT_SQ_DRAINED
    CHECK_FALSE(client.async_event());       // the second COMM_EST said nothing new
    CHECK_FALSE(client.session.violation());
}

TEST_CASE("events that wait go with their object, and with the client's end of the socket") {
    Rig rig;
    Client& client = rig.client;
    const int socket = client.events.daemon_end.get();
    const rocem_abi_async_event filler{.type = 99, .slot = 0, .epoch = 0, .reserved = 0};
    while (ipc::send_event(socket, &filler, sizeof(filler)) == ipc::Sent::yes) {
    }
    const engine::AsyncEvent drained{
        .type = engine::EventType::sq_drained, .qp = client.qp_handle(), .cq = {}};
    client.session.push_event(drained);
    REQUIRE(client.session.has_waiting_events());
    SECTION("RESET") {
        REQUIRE(error_of(client.to(engine::QpState::reset)) == 0);
        CHECK_FALSE(client.session.has_waiting_events());
    }
    SECTION("destroy_qp") {
        client.session.destroy_qp({.slot = client.qp.slot, .epoch = client.qp.epoch}, 1);
        CHECK_FALSE(client.session.has_waiting_events());
    }
    SECTION("the socket is closed") {
        client.events.client_end.reset();
        client.session.send_waiting_events();
        CHECK_FALSE(client.session.has_waiting_events());
    }
}

TEST_CASE("RESET empties the rings and gives the QP a new epoch") {
    Rig rig;
    Client& client = rig.client;
    REQUIRE(error_of(client.to_init()) == 0);
    for (std::uint64_t i = 0; i < 3; ++i)
        client.post_recv(i);
    const Answer answer = client.to(engine::QpState::reset);
    const auto& modified = std::get<QpModified>(answer);
    CHECK(modified.epoch == client.qp.epoch + 1);
    CHECK(client.qp_head().recv.consumer == 3);
    CHECK(error_of(client.to_init()) == EINVAL);  // the old epoch names nothing
    client.qp.epoch = modified.epoch;
    CHECK(error_of(client.to_init()) == 0);
    client.session.drain_receives(now);
    client.deliver();
    CHECK(client.cq_head().ring.producer == 0);  // nothing of the old epoch comes back
}

TEST_CASE("a refused modify names the attribute") {
    Rig rig;
    Client& client = rig.client;
    const auto refused = [&](engine::QpState to, std::uint32_t mask) {
        ModifyQp modify = client.command(mask);
        modify.attributes.state = to;
        const Answer answer = client.session.modify_qp(now, modify);
        REQUIRE(error_of(answer) == EINVAL);
        return std::get<Refusal>(answer).text;
    };
    CHECK(refused(engine::QpState::init, engine::attr_pkey_index | engine::attr_port) ==
          "attr_mask: qp_access_flags is missing from RESET to INIT");
    CHECK(refused(engine::QpState::init, engine::attr_pkey_index | engine::attr_port |
                                             engine::attr_access_flags | engine::attr_timeout) ==
          "attr_mask: timeout is not allowed from RESET to INIT");
    CHECK(refused(engine::QpState::rts, 0) == "qp_state: no transition from RESET to RTS");
    REQUIRE(error_of(client.to_init()) == 0);
    CHECK(refused(engine::QpState::rtr, engine::attr_path_mtu | engine::attr_rq_psn | engine::attr_dest_qpn |
                                            engine::attr_max_dest_rd_atomic) ==
          "attr_mask: ah_attr, min_rnr_timer is missing from INIT to RTR");
    CHECK(refused(engine::QpState::init, engine::attr_cur_state) ==
          "cur_qp_state: RESET is not the present state, INIT");
}

TEST_CASE("a command with an index outside its window is a violation") {
    Rig rig;
    ModifyQp modify =
        rig.client.command(engine::attr_pkey_index | engine::attr_port | engine::attr_access_flags);
    modify.attributes.state = engine::QpState::init;
    modify.recv_producer = 5;
    CHECK(error_of(rig.client.session.modify_qp(now, modify)) == EIO);
    CHECK(rig.client.session.violation());
}

TEST_CASE("a session cannot name another session's objects") {
    Rig rig;
    Client other(2, rig.core);
    CHECK(error_of(other.session.dealloc_pd({.pd = rig.client.pd})) == EINVAL);
    CHECK(error_of(other.session.destroy_cq({.slot = rig.client.cq.slot, .epoch = rig.client.cq.epoch})) ==
          EINVAL);
    CHECK(error_of(*other.session.destroy_qp({.slot = rig.client.qp.slot, .epoch = rig.client.qp.epoch},
                                             1)) == EINVAL);
    CHECK(error_of(*other.session.deregister_mr({.mr = 0}, 1)) == EINVAL);
    CHECK(error_of(other.session.query_qp({.slot = 0, .epoch = 1})) == EINVAL);
    CHECK(error_of(other.session.create_qp({.pd = rig.client.pd,
                                            .send_cq_slot = rig.client.cq.slot,
                                            .recv_cq_slot = rig.client.cq.slot,
                                            .sq_sig_all = false,
                                            .caps = caps,
                                            .object = other.qp_memory.mapping.data()})) == EINVAL);
}

TEST_CASE("objects in use are not destroyed") {
    Rig rig;
    Client& client = rig.client;
    CHECK(error_of(client.session.dealloc_pd({.pd = client.pd})) == EBUSY);
    CHECK(error_of(client.session.destroy_cq({.slot = client.cq.slot, .epoch = client.cq.epoch})) == EBUSY);
    CHECK(error_of(client.session.destroy_cq({.slot = client.cq.slot, .epoch = client.cq.epoch + 1})) ==
          EINVAL);
}

TEST_CASE("the end of a session leaves nothing in the engine") {
    Rig rig;
    Client& client = rig.client;
    std::array<std::byte, 4096> memory{};
    const Answer mr = client.session.register_mr({.pd = client.pd,
                                                  .access = engine::access_local_write,
                                                  .va = 0x1000,
                                                  .length = 4096,
                                                  .base = memory.data()});
    REQUIRE(std::holds_alternative<MrMade>(mr));
    CHECK(error_of(client.session.register_mr({.pd = client.pd,
                                               .access = engine::access_remote_write,
                                               .va = 0,
                                               .length = 4096,
                                               .base = memory.data()})) == EINVAL);
    REQUIRE(error_of(client.to_init()) == 0);
    client.post_recv(1);
    client.session.drain_receives(now);
    CHECK(rig.core.regions.size() == 1);
    client.session.close();
    std::vector<WorkerAnswer> answers;
    client.session.poll_retired(answers);
    CHECK(client.session.closed());
    CHECK(answers.empty());
    CHECK(rig.core.engine.qp_count() == 0);
    CHECK(rig.core.engine.mr_count() == 0);
    CHECK(rig.core.engine.cq_count() == 0);
    CHECK(rig.core.engine.pd_count() == 0);
    CHECK(rig.core.regions.size() == 0);
}
