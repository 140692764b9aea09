#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "control_rig.hpp"
#include "ipc/shared_region.hpp"

using namespace rocem;
using namespace rocem::test;
using ipc::MessageType;

namespace {

// A well-behaved client is served: whatever happened before did no harm.
bool serves(const ControlRig& rig) {
    RawClient client(rig.path());
    return client.greet() && client.open_nic("rocem0");
}

template <class Request>
Request object_request(MessageType type, std::uint32_t object) {
    auto request = ipc::make_request<Request>(type, 9);
    request.object = object;
    return request;
}

std::string refusal_of(RawClient& client) {
    return std::string(ipc::text_in(ipc::read_message<rocem_abi_refusal>(client.last.bytes()).reason));
}

template <class Request>
std::string refused(RawClient& client, const Request& request, int error) {
    const auto refusal = client.ask<rocem_abi_refusal>(request);
    REQUIRE(refusal);
    CHECK(static_cast<int>(refusal->header.error) == error);
    return refusal_of(client);
}

}  // namespace

TEST_CASE("a hello with a wrong magic ends the session", "[threads]") {
    ControlRig rig;
    RawClient client(rig.path());
    auto hello = good_hello();
    hello.magic ^= 1;
    client.send(ipc::bytes_of(hello));
    client.reason_of_end();
    CHECK(serves(rig));
    CHECK(rig.stop().find("hello with magic") != std::string::npos);
}

TEST_CASE("a hello without a common version is refused with both ranges", "[threads]") {
    ControlRig rig;
    RawClient client(rig.path());
    auto hello = good_hello();
    hello.version_min = 7;
    hello.version_max = 9;
    CHECK(refused(client, hello, EPROTONOSUPPORT) == "version: the client speaks 7 to 9, this daemon 1 to 1");
    CHECK(client.reason_of_end().empty());
    CHECK(serves(rig));
}

TEST_CASE("garbage of every length ends the session and nobody else's", "[threads]") {
    ControlRig rig;
    RawClient bystander(rig.path());
    REQUIRE(bystander.greet());
    for (std::size_t length = 1; length <= ROCEM_ABI_MESSAGE_BYTES_MAX; length += 1 + length / 7) {
        RawClient client(rig.path());
        REQUIRE(client.greet());
        std::vector<std::byte> bytes(length, static_cast<std::byte>(0xA5));
        client.send(bytes);
        CHECK(client.reason_of_end().empty());
    }
    RawClient too_long(rig.path());
    REQUIRE(too_long.greet());
    too_long.send(std::vector<std::byte>(ROCEM_ABI_MESSAGE_BYTES_MAX + 1));
    too_long.reason_of_end();
    CHECK(bystander.open_nic("rocem0"));
}

TEST_CASE("a message of a wrong size ends the session, whatever its type", "[threads]") {
    ControlRig rig;
    for (std::uint16_t type = 0; type <= ROCEM_ABI_MANAGEMENT + 1; ++type) {
        for (const int change : {-1, 1}) {
            RawClient client(rig.path());
            REQUIRE(client.greet());
            const ipc::CommandShape* shape = ipc::find_command(type);
            const std::size_t size = shape == nullptr ? sizeof(rocem_abi_header) : shape->request_bytes;
            std::vector<std::byte> bytes(shape == nullptr ? size : size + change);
            rocem_abi_header header{static_cast<std::uint32_t>(bytes.size()), type, 0, 1, 0};
            std::memcpy(bytes.data(), &header, std::min(sizeof(header), bytes.size()));
            CAPTURE(type, change);
            client.send(bytes);
            CHECK(client.reason_of_end().empty());
        }
    }
    CHECK(serves(rig));
}

TEST_CASE("file descriptors from a client end its session, and are closed", "[threads]") {
    ControlRig rig;
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    ipc::UniqueFd ours(ends[0]);
    for (const std::size_t count : {1u, 5u}) {
        RawClient client(rig.path());
        const std::vector<int> fds(count, ends[1]);
        client.send(ipc::bytes_of(good_hello()), fds);
        CHECK(client.reason_of_end().empty());
    }
    ::close(ends[1]);
    char byte = 0;
    CHECK(::recv(ours.get(), &byte, 1, 0) == 0);  // no copy of the other end is left anywhere
    CHECK(serves(rig));
}

TEST_CASE("nothing is answered before hello, and hello comes once", "[threads]") {
    ControlRig rig;
    RawClient early(rig.path());
    early.send(ipc::bytes_of(ipc::make_request<rocem_abi_list_nics_request>(MessageType::list_nics, 1)));
    CHECK(early.reason_of_end().empty());
    RawClient twice(rig.path());
    REQUIRE(twice.greet());
    twice.send(ipc::bytes_of(good_hello()));
    CHECK(twice.reason_of_end().empty());
    CHECK(serves(rig));
}

TEST_CASE("opening a NIC hands out five descriptors, and an unknown name is refused", "[threads]") {
    ControlRig rig;
    RawClient client(rig.path());
    REQUIRE(client.greet());
    auto request = ipc::make_request<rocem_abi_open_nic_request>(MessageType::open_nic, 2);
    ipc::set_text(request.name, "nosuch");
    CHECK(refused(client, request, ENODEV) == "name: there is no NIC named \"nosuch\"");
    REQUIRE(client.open_nic(""));
    REQUIRE(client.last.fd_count == 5);
    const auto reply = ipc::read_message<rocem_abi_open_nic_reply>(client.last.bytes());
    CHECK(std::string(ipc::text_in(reply.device.name)) == "rocem0");
    const ipc::Mapping segment =
        ipc::map_sealed(client.last.fds[0].get(), sizeof(ipc::SessionSegment), ipc::Access::read_write);
    REQUIRE(segment);
    CHECK(reinterpret_cast<const ipc::SessionSegment*>(segment.data())->magic == ROCEM_ABI_MAGIC);
    CHECK_FALSE(ipc::map_sealed(client.last.fds[1].get(), 64, ipc::Access::read_write));
    CHECK_FALSE(ipc::map_sealed(client.last.fds[2].get(), 64, ipc::Access::read_write));
    CHECK(refused(client, request, EBUSY) == "open_nic: this session has a NIC already");
}

TEST_CASE("a refusal names the field and its value", "[threads]") {
    config::LimitSettings limits;
    limits.session_memory_bytes_max = 1 << 20;
    ControlRig rig(limits);
    RawClient client(rig.path());
    REQUIRE(client.greet());
    auto early = ipc::make_request<rocem_abi_bare>(MessageType::alloc_pd, 3);
    CHECK(refused(client, early, EINVAL) == "alloc_pd: no NIC is open");
    REQUIRE(client.open_nic("rocem0"));

    auto memory = ipc::make_request<rocem_abi_alloc_memory_request>(MessageType::alloc_memory, 4);
    memory.bytes = UINT64_MAX;
    CHECK(refused(client, memory, ENOMEM).find("session_memory_bytes_max 1048576") != std::string::npos);
    memory.bytes = 5000;
    const auto granted = client.ask<rocem_abi_alloc_memory_reply>(memory);
    REQUIRE(granted);
    CHECK(granted->bytes == 8192);

    auto mr = ipc::make_request<rocem_abi_reg_mr_request>(MessageType::reg_mr, 5);
    mr.road = ROCEM_ABI_ROAD_REGION;
    mr.region = granted->region;
    mr.offset = 8192;
    mr.length = 1;
    CHECK(refused(client, mr, EINVAL) ==
          "length: 1 bytes at offset 8192 are not inside region 1 of 8192 bytes");
    mr.offset = UINT64_MAX;
    mr.length = 2;
    CHECK(refused(client, mr, EINVAL).find("not inside region") != std::string::npos);
    mr.offset = 0;
    mr.road = 2;
    CHECK(refused(client, mr, EOPNOTSUPP).find("road: 2") != std::string::npos);
    mr.road = ROCEM_ABI_ROAD_REGION;
    mr.region = 77;
    CHECK(refused(client, mr, EINVAL) == "region: this session has no region 77");
    mr.region = granted->region;
    REQUIRE(client.ask<rocem_abi_reg_mr_reply>(mr));
    const auto free = object_request<rocem_abi_object_request>(MessageType::free_memory, granted->region);
    CHECK(refused(client, free, EBUSY).find("1 memory regions still use it") != std::string::npos);

    auto cq = ipc::make_request<rocem_abi_create_cq_request>(MessageType::create_cq, 6);
    CHECK(refused(client, cq, EINVAL) == "cqe: 0 is not between 1 and 4194303");
    cq.cqe = 4194304;
    CHECK(refused(client, cq, EINVAL) == "cqe: 4194304 is not between 1 and 4194303");
    cq.cqe = 1;
    cq.comp_vector = 1;
    CHECK(refused(client, cq, EINVAL) == "comp_vector: 1 is not 0");

    auto qp = ipc::make_request<rocem_abi_create_qp_request>(MessageType::create_qp, 7);
    qp.qp_type = 77;
    CHECK(refused(client, qp, EOPNOTSUPP) == "qp_type: 77 is not supported, only 2 (RC)");
    qp.qp_type = 2;
    qp.caps.max_send_wr = 32769;
    CHECK(refused(client, qp, EINVAL) == "max_send_wr: 32769 is above 32768");

    auto modify = ipc::make_request<rocem_abi_modify_qp_request>(MessageType::modify_qp, 8);
    modify.mask = engine::attr_path_mtu;
    modify.attributes.path_mtu = 5;
    CHECK(refused(client, modify, EINVAL) == "path_mtu: 4096 is above the port's active_mtu 1024");
    modify.mask = engine::attr_rnr_retry;
    modify.attributes.rnr_retry = 8;
    CHECK(refused(client, modify, EINVAL) == "rnr_retry: 8 is above 7");
    modify.mask = engine::attr_av;
    CHECK(refused(client, modify, EINVAL).find("ah_attr.is_global: 0") == 0);
}

TEST_CASE("a client that does not read its answers delays nobody and gets them in order", "[threads]") {
    ControlRig rig;
    RawClient lazy(rig.path());
    REQUIRE(lazy.greet());
    auto request = ipc::make_request<rocem_abi_list_nics_request>(MessageType::list_nics, 0);
    // More than both sockets hold: the server stops reading, and our sends would block.
    std::uint32_t sent = 0;
    for (;;) {
        request.header.request_id = sent;
        if (ipc::send_message(lazy.descriptor(), ipc::bytes_of(request), {}, ipc::Wait::dont_wait) !=
            ipc::Transfer::done) {
            break;
        }
        if (++sent == 100'000) break;
    }
    CHECK(sent < 100'000);
    CHECK(serves(rig));
    bool in_order = true;
    for (std::uint32_t i = 0; i < sent; ++i) {
        REQUIRE(lazy.receive(lazy.last));
        const auto header = ipc::read_message<rocem_abi_header>(lazy.last.bytes());
        in_order = in_order && header.request_id == i;
    }
    CHECK(in_order);
}

TEST_CASE("a session too many is turned away with a reason, and room comes back", "[threads]") {
    config::LimitSettings limits;
    limits.sessions_max = 2;
    ControlRig rig(limits);
    auto first = std::make_unique<RawClient>(rig.path());
    RawClient second(rig.path());
    REQUIRE(first->greet());
    REQUIRE(second.greet());
    RawClient third(rig.path());
    CHECK(third.reason_of_end() == "sessions_max is reached");
    REQUIRE(first->open_nic("rocem0"));
    first.reset();
    // The place is free once the server has seen the end: ask until it has.
    for (;;) {
        RawClient next(rig.path());
        if (next.greet()) break;
    }
}

TEST_CASE("without file descriptors the server says so and goes on when there are some", "[threads]") {
    ControlRig rig;
    std::vector<ipc::UniqueFd> sockets;
    for (int i = 0; i < 3; ++i)
        sockets.push_back(RawClient::make_socket());
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    std::vector<ipc::UniqueFd> fill;
    rlimit tight = before;
    tight.rlim_cur = 64;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);
    for (;;) {
        ipc::UniqueFd fd(::dup(0));
        if (!fd) break;
        fill.push_back(std::move(fd));
    }
    std::vector<std::unique_ptr<RawClient>> clients;  // kept: their descriptors must not become free
    for (ipc::UniqueFd& socket : sockets) {
        clients.push_back(std::make_unique<RawClient>(std::move(socket), rig.path()));
        CHECK(clients.back()->reason_of_end().find("no file descriptor left") != std::string::npos);
    }
    fill.clear();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(serves(rig));
}

TEST_CASE("a violation that the worker reports ends that session only", "[threads]") {
    ControlRig rig;
    RawClient bystander(rig.path());
    REQUIRE(bystander.greet());
    RawClient client(rig.path());
    REQUIRE(client.greet());
    REQUIRE(client.open_nic("rocem0"));
    rig.violate(2, "CQ 3: consumer index outside its window");
    CHECK(client.reason_of_end().empty());
    CHECK(bystander.open_nic("rocem0"));
    CHECK(rig.stop().find("CQ 3: consumer index outside its window") != std::string::npos);
}

TEST_CASE("at the end every client hears DEVICE_FATAL and end of file", "[threads]") {
    ControlRig rig;
    RawClient client(rig.path());
    REQUIRE(client.greet());
    REQUIRE(client.open_nic("rocem0"));
    const ipc::UniqueFd events = std::move(client.last.fds[4]);
    rig.stop();
    CHECK(client.reason_of_end().empty());
    rocem_abi_async_event event{};
    CHECK(::recv(events.get(), &event, sizeof(event), 0) == sizeof(event));
    CHECK(event.type == 8);
}

TEST_CASE("management questions are answered with a sealed document", "[threads]") {
    ControlRig rig;
    RawClient client(rig.path());
    REQUIRE(client.greet());
    const auto ask = [&](std::string_view question) {
        auto request = ipc::make_request<rocem_abi_management_request>(MessageType::management, 5);
        std::memcpy(request.text, question.data(), question.size());
        request.text_bytes = static_cast<std::uint32_t>(question.size());
        return request;
    };
    for (const char* question : {"status", "nics", "qps", "counters", "counters rocem0"}) {
        CAPTURE(question);
        const auto reply = client.ask<rocem_abi_management_reply>(ask(question));
        REQUIRE(reply);
        REQUIRE(client.last.fd_count == 1);
        const ipc::Mapping text =
            ipc::map_sealed(client.last.fds[0].get(), reply->text_bytes, ipc::Access::read_only);
        REQUIRE(text);
        CHECK(static_cast<char>(text.data()[0]) == '{');
        CHECK_FALSE(ipc::map_sealed(client.last.fds[0].get(), reply->text_bytes, ipc::Access::read_write));
    }
    CHECK(refused(client, ask("weather"), EINVAL).find("found \"weather\"") != std::string::npos);
    CHECK(refused(client, ask("qps nosuch"), EINVAL) == "nic: there is no NIC named \"nosuch\"");
    auto lying = ask("status");
    lying.text_bytes = ROCEM_ABI_TEXT_BYTES + 1;
    client.send(ipc::bytes_of(lying));
    CHECK(client.reason_of_end().empty());
}
