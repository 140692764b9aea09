// A worker in virtual time: commands in, frames of a port that the test plays, answers out.
#include "daemon/worker.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>

#include "daemon/nic/dpdk_environment.hpp"
#include "daemon/nic/neighbour_frames.hpp"
#include "ipc/doorbell.hpp"
#include "protocol/icrc.hpp"

using namespace rocem;
using namespace rocem::daemon;
using namespace std::chrono_literals;

namespace {

constexpr protocol::MacAddress own_mac{{2, 0, 0, 0, 0, 1}};
constexpr protocol::MacAddress peer_mac{{2, 0, 0, 0, 0, 2}};
constexpr protocol::Ipv4Address own_ip{{10, 0, 0, 1}};
constexpr protocol::Ipv4Address peer_ip{{10, 0, 0, 2}};
constexpr ipc::QpCaps caps{.max_send_wr = 16,
                           .max_recv_wr = 16,
                           .max_send_sge = 1,
                           .max_recv_sge = 1,
                           .max_inline_data = 64,
                           .reserved = 0};

// EAL starts once per process.
void need_dpdk() {
    static const auto environment = DpdkEnvironment::create(64);
    if (!environment) FAIL(environment.error());
}

FramePool& pool() {
    need_dpdk();
    static const auto frames = FramePool::create("test", 256, 4400);
    if (!frames) FAIL(frames.error());
    return **frames;
}

using Bytes = std::vector<std::byte>;

struct WireTap {
    std::deque<Bytes> to_nic;
    std::deque<Bytes> from_nic;
    std::size_t room = 64;
};

// Lives as long as its NIC; the tap belongs to the test.
class TestPort final : public PacketPort {
 public:
    explicit TestPort(WireTap& tap) : tap_(tap) {}

    std::size_t receive(engine::Time, std::span<FrameBuffer> out) override {
        std::size_t count = 0;
        while (count < out.size() && !tap_.to_nic.empty() && pool().allocate(out.subspan(count, 1)) == 1) {
            const Bytes& bytes = tap_.to_nic.front();
            std::copy(bytes.begin(), bytes.end(), out[count].data);
            out[count++].length = static_cast<std::uint32_t>(bytes.size());
            tap_.to_nic.pop_front();
        }
        return count;
    }
    std::size_t transmit(engine::Time, std::span<const FrameBuffer> frames) override {
        const std::size_t count = std::min(frames.size(), tap_.room);
        for (const FrameBuffer& frame : frames.first(count)) {
            tap_.from_nic.emplace_back(frame.bytes().begin(), frame.bytes().end());
            free_frame(frame);
        }
        tap_.room -= count;
        return count;
    }
    std::size_t transmit_room() const override { return tap_.room; }
    int wait_descriptor() const override { return -1; }
    void append_counters(std::vector<PortCounter>& out) const override { out.push_back({"test_frames", 3}); }
    std::string_view description() const override { return "test"; }

 private:
    WireTap& tap_;
};

NicParts nic_parts(WireTap& tap) {
    NicParts parts;
    parts.settings.name = "rocem0";
    parts.settings.mac = own_mac;
    parts.settings.addresses = {{.gid = protocol::Gid::from_ipv4(own_ip), .prefix_length = 24}};
    parts.settings.gid_link_local = false;
    parts.engine.mac = own_mac;
    parts.engine.gid_table = {protocol::Gid::from_ipv4(own_ip)};
    parts.pool = &pool();
    parts.port = std::make_unique<TestPort>(tap);
    return parts;
}

struct Rig {
    Rig()
        : page(ipc::make_region("test", sizeof(ipc::WorkerPage))), nic(nic_storage.emplace(nic_parts(tap))) {
        REQUIRE(worker.add_nic(nic));
        ask(OpenSession{.nic = 0,
                        .segment = &segment(),
                        .doorbell = doorbell.get(),
                        .event_socket = events.daemon_end.get()});
        REQUIRE(std::holds_alternative<Done>(expect()));
        ask(AllocPd{});
        const std::uint32_t pd = std::get<PdMade>(expect()).pd;
        ask(CreateCq{.cqe = 16, .object = cq_memory.mapping.data(), .channel = -1});
        const auto cq = std::get<CqMade>(expect());
        ask(CreateQp{.pd = pd,
                     .send_cq_slot = cq.slot,
                     .recv_cq_slot = cq.slot,
                     .sq_sig_all = true,
                     .caps = caps,
                     .object = qp_memory.mapping.data()});
        qp = std::get<QpMade>(expect());
    }
    ~Rig() {
        ask(CloseSession{});
        while (!std::holds_alternative<SessionClosed>(expect())) {
        }
        nic_storage.reset();
        CHECK(pool().available() == 256);  // every buffer came back
    }

    ipc::SessionSegment& segment() {
        return *reinterpret_cast<ipc::SessionSegment*>(segment_memory.mapping.data());
    }
    ipc::QpHead& qp_head() { return *reinterpret_cast<ipc::QpHead*>(qp_memory.mapping.data()); }

    std::uint32_t ask(Command command) {
        link.commands.try_push({.session = 7, .request_id = ++last_request, .command = std::move(command)});
        return last_request;
    }
    std::optional<WorkerAnswer> answer() { return link.answers.try_pop(); }
    Answer expect() {
        for (int turn = 0; turn < 100; ++turn) {
            worker.run_once(now);
            if (auto got = answer()) return std::move(got->answer);
        }
        FAIL("no answer");
        return Done{};
    }
    void turns(int count) {
        for (int i = 0; i < count; ++i)
            worker.run_once(now);
    }

    ModifyQp modify(engine::QpState state, std::uint32_t mask) {
        ModifyQp command;
        command.slot = qp.slot;
        command.epoch = qp.epoch;
        command.mask = mask | engine::attr_state;
        command.send_producer = qp_head().send.producer;
        command.recv_producer = qp_head().recv.producer;
        command.attributes.state = state;
        return command;
    }
    void to_init() {
        ask(modify(engine::QpState::init,
                   engine::attr_pkey_index | engine::attr_port | engine::attr_access_flags));
        REQUIRE(std::holds_alternative<QpModified>(expect()));
    }
    std::uint32_t ask_rtr(const protocol::Gid& dgid) {
        ModifyQp command =
            modify(engine::QpState::rtr, engine::attr_av | engine::attr_path_mtu | engine::attr_dest_qpn |
                                             engine::attr_rq_psn | engine::attr_max_dest_rd_atomic |
                                             engine::attr_min_rnr_timer);
        command.attributes.av.dgid = dgid;
        command.attributes.dest_qpn = protocol::Qpn(0x77);
        return ask(command);
    }
    void to_rts() {
        ask(modify(engine::QpState::rts, engine::attr_sq_psn | engine::attr_timeout | engine::attr_retry_cnt |
                                             engine::attr_rnr_retry | engine::attr_max_rd_atomic));
        REQUIRE(std::holds_alternative<QpModified>(expect()));
    }
    Bytes next_frame() {
        REQUIRE_FALSE(tap.from_nic.empty());
        Bytes frame = std::move(tap.from_nic.front());
        tap.from_nic.pop_front();
        return frame;
    }
    void peer_says(const protocol::Arp& arp) { tap.to_nic.push_back(arp_frame(peer_mac, own_mac, arp)); }
    // The peer's answer to an ARP question.
    void peer_is_there() {
        peer_says({.operation = protocol::Arp::reply,
                   .sender_mac = peer_mac,
                   .sender_ip = peer_ip,
                   .target_mac = own_mac,
                   .target_ip = own_ip});
    }
    void post_inline_send(std::uint64_t wr_id) {
        const ipc::QpLayout layout = ipc::qp_layout(caps);
        const std::uint32_t index = qp_head().send.producer;
        ipc::SendWqe wqe{};
        wqe.wr_id = wr_id;
        wqe.opcode = 2;
        wqe.flags = ROCEM_ABI_SEND_INLINE;
        wqe.inline_length = 5;
        std::memcpy(
            qp_memory.mapping.data() + layout.send.offset + index % layout.send.slots * layout.send.stride,
            &wqe, sizeof(wqe));
        ipc::store_shared(qp_head().send.producer, index + 1, std::memory_order_release);
        ipc::mark(segment().send_dirty, qp.slot);
    }

    engine::Time now{1000s};
    WireTap tap;
    Waker control;
    WorkerLink link{4, control};
    ipc::SharedRegion page;
    Clock clock;
    std::optional<EmulatedNic> nic_storage;
    EmulatedNic& nic;
    Worker worker{link, page, clock, {.spin = 1us, .yield = 1us, .block = true, .max_sleep = 1ms}};
    ipc::SharedRegion segment_memory = ipc::make_region("test", sizeof(ipc::SessionSegment));
    ipc::SharedRegion cq_memory = ipc::make_region("test", ipc::cq_layout(16).bytes);
    ipc::SharedRegion qp_memory = ipc::make_region("test", ipc::qp_layout(caps).bytes);
    ipc::UniqueFd doorbell = ipc::make_doorbell();
    ipc::SocketPair events = ipc::make_event_sockets();
    QpMade qp;
    std::uint32_t last_request = 0;
};

const protocol::Gid peer_gid = protocol::Gid::from_ipv4(peer_ip);

}  // namespace

TEST_CASE("modify to RTR waits for the neighbour, and succeeds with its answer") {
    Rig rig;
    rig.to_init();
    const std::uint32_t request = rig.ask_rtr(peer_gid);
    rig.turns(5);
    CHECK_FALSE(rig.answer());
    const auto frame = rig.next_frame();
    const auto question = protocol::parse_frame(frame);
    REQUIRE(question);
    CHECK(question->kind == protocol::FrameKind::arp);
    rig.peer_is_there();
    rig.turns(1);
    const auto answer = rig.answer();
    REQUIRE(answer);
    CHECK(answer->request_id == request);
    REQUIRE(std::holds_alternative<QpModified>(answer->answer));
    CHECK(std::get<QpModified>(answer->answer).state == engine::QpState::rtr);
}

TEST_CASE("a neighbour that does not answer is ETIMEDOUT after three questions") {
    Rig rig;
    rig.to_init();
    rig.ask_rtr(peer_gid);
    for (int second = 0; second < 3; ++second) {
        rig.turns(2);
        CHECK(rig.tap.from_nic.size() == 1);
        rig.next_frame();
        CHECK_FALSE(rig.answer());
        rig.now += 1s;
    }
    const Answer answer = rig.expect();
    const auto* refusal = std::get_if<Refusal>(&answer);
    REQUIRE(refusal);
    CHECK(refusal->error == ETIMEDOUT);
    CHECK(refusal->text.find("10.0.0.2") != std::string::npos);
}

TEST_CASE("a destination without a route is EHOSTUNREACH at once") {
    Rig rig;
    rig.to_init();
    rig.ask_rtr(protocol::Gid::from_ipv4({{192, 168, 9, 9}}));
    const Answer answer = rig.expect();
    const auto* refusal = std::get_if<Refusal>(&answer);
    REQUIRE(refusal);
    CHECK(refusal->error == EHOSTUNREACH);
    CHECK(refusal->text == "ah_attr.grh.dgid: no route to ::ffff:192.168.9.9");
}

TEST_CASE("a NIC that means itself needs no neighbour") {
    Rig rig;
    rig.to_init();
    rig.ask_rtr(protocol::Gid::from_ipv4(own_ip));
    CHECK(std::holds_alternative<QpModified>(rig.expect()));
    CHECK(rig.tap.from_nic.empty());
}

TEST_CASE("a session that ends while it waits for a neighbour is answered, and leaves nothing") {
    Rig rig;
    rig.to_init();
    const std::uint32_t waiting = rig.ask_rtr(peer_gid);
    rig.turns(2);
    rig.next_frame();
    const std::uint32_t closing = rig.ask(CloseSession{});
    rig.turns(3);
    const auto first = rig.answer();
    REQUIRE(first);
    CHECK(first->request_id == waiting);
    CHECK(std::holds_alternative<Refusal>(first->answer));
    const auto second = rig.answer();
    REQUIRE(second);
    CHECK(second->request_id == closing);
    CHECK(std::holds_alternative<SessionClosed>(second->answer));
    CHECK(rig.nic.core().engine.qp_count() == 0);
    rig.peer_is_there();  // too late, and harmless
    rig.turns(2);
    CHECK_FALSE(rig.answer());
}

TEST_CASE("commands of a session that nobody knows are refused, its end is confirmed") {
    Rig rig;
    rig.link.commands.try_push({.session = 99, .request_id = 1, .command = AllocPd{}});
    CHECK(std::holds_alternative<Refusal>(rig.expect()));
    rig.link.commands.try_push({.session = 99, .request_id = 2, .command = CloseSession{}});
    CHECK(std::holds_alternative<SessionClosed>(rig.expect()));
}

TEST_CASE("a violation ends the session's objects and is told once") {
    Rig rig;
    rig.qp_head().send.producer = 1000;
    ipc::mark(rig.segment().send_dirty, rig.qp.slot);
    const Answer answer = rig.expect();
    REQUIRE(std::holds_alternative<SessionViolated>(answer));
    CHECK(std::get<SessionViolated>(answer).text.find("send producer index") != std::string::npos);
    CHECK(rig.nic.core().engine.qp_count() == 0);
    rig.turns(3);
    CHECK_FALSE(rig.answer());
    rig.ask(AllocPd{});
    const Answer later = rig.expect();
    REQUIRE(std::holds_alternative<Refusal>(later));
    CHECK(std::get<Refusal>(later).error == EIO);
}

TEST_CASE("posts become frames with an exact ICRC, no more than the port has room for") {
    Rig rig;
    rig.to_init();
    rig.ask_rtr(peer_gid);
    rig.turns(2);
    rig.next_frame();
    rig.peer_is_there();
    REQUIRE(std::holds_alternative<QpModified>(rig.expect()));
    rig.to_rts();
    rig.tap.room = 3;
    for (std::uint64_t i = 0; i < 5; ++i)
        rig.post_inline_send(i);
    rig.turns(5);
    CHECK(rig.tap.from_nic.size() == 3);
    rig.tap.room = 64;
    rig.turns(5);
    CHECK(rig.tap.from_nic.size() == 5);
    std::uint32_t psn = 0;
    while (!rig.tap.from_nic.empty()) {
        const Bytes frame = rig.next_frame();
        const auto packet = protocol::parse_frame(frame);
        REQUIRE(packet);
        CHECK(protocol::icrc_is_right(packet->l3));
        CHECK(packet->ethernet.destination == peer_mac);
        CHECK(packet->ethernet.source == own_mac);
        CHECK(packet->roce.bth.psn.value() == psn++);
        CHECK(packet->roce.payload.size() == 5);
    }
}

TEST_CASE("frames that are not for the NIC are counted by reason, in the page too") {
    Rig rig;
    rig.tap.to_nic.push_back(Bytes(10));
    Bytes stranger(60);
    stranger[12] = std::byte{0x88};
    stranger[13] = std::byte{0xcc};  // LLDP
    rig.tap.to_nic.push_back(stranger);
    rig.turns(2);
    rig.nic.publish_counters();
    const CountersPage& page = rig.nic.counters();
    const auto value_of = [&](const std::string& label) {
        for (std::size_t i = 0; i < page.count(); ++i) {
            if (page.labels()[i] == label) return page.get(i);
        }
        return std::uint64_t{UINT64_MAX};
    };
    CHECK(value_of("drops.truncated_frame") == 1);
    CHECK(value_of("drops.not_roce") == 1);
    CHECK(value_of("rdma_rx_packets") == 0);
    CHECK(value_of("port.test_frames") == 3);
}

TEST_CASE("every QP of the worker is listed with its state") {
    Rig rig;
    rig.to_init();
    rig.ask(ListQps{});
    const Answer answer = rig.expect();
    const auto* list = std::get_if<QpList>(&answer);
    REQUIRE(list);
    REQUIRE(list->qps.size() == 1);
    CHECK(list->qps[0].session == 7);
    CHECK(list->qps[0].qpn == rig.qp.qpn);
    CHECK(list->qps[0].attributes.state == engine::QpState::init);
}
