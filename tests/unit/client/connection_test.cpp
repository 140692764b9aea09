#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>

#include "rig.hpp"

namespace rocem::test {
namespace {

using Catch::Matchers::Contains;
using ipc::MessageType;

// Answers one type of request by `reply`, leaves the rest to the daemon.
template <class Reply>
void replace(FakeDaemon& daemon, MessageType type, Reply reply) {
    daemon.set_hook([type, reply](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
        if (header.type != static_cast<std::uint16_t>(type)) return false;
        reply(self, socket, header);
        return true;
    });
}

TEST_CASE("rocem_open__finds_the_socket_in_the_environment") {
    FakeDaemon daemon;
    ::setenv("ROCEM_SOCKET", daemon.path().c_str(), 1);
    rocem_context* context = rocem_open(nullptr, "fake0");
    ::unsetenv("ROCEM_SOCKET");
    REQUIRE(context != nullptr);
    rocem_device_attr device{};
    CHECK(rocem_query_device(context, &device) == 0);
    CHECK(device.name == std::string("fake0"));
    CHECK(device.max_msg_size == std::uint64_t{1} << 31);
    rocem_port_attr port{};
    CHECK(rocem_query_port(context, 1, &port) == 0);
    CHECK(port.state == ROCEM_PORT_ACTIVE);
    CHECK(port.active_mtu == ROCEM_MTU_1024);
    rocem_gid gid{};
    CHECK(rocem_query_gid(context, 1, 0, &gid) == 0);
    CHECK(gid.raw[15] == 9);
    CHECK(rocem_close(context) == 0);
}

TEST_CASE("rocem_open__names_every_path_that_it_tried") {
    ::unsetenv("ROCEM_SOCKET");
    ::setenv("XDG_RUNTIME_DIR", "/tmp/rocem-no-such-dir", 1);
    CHECK(rocem_open("/tmp/rocem-none.sock", nullptr) == nullptr);
    CHECK(errno == ENOENT);
    CHECK_THAT(last_error(), Contains("/tmp/rocem-none.sock"));
    rocem_context* context = rocem_open(nullptr, nullptr);
    ::unsetenv("XDG_RUNTIME_DIR");
    if (context != nullptr) {
        rocem_close(context);  // this machine runs a daemon
    } else {
        CHECK_THAT(last_error(), Contains("/tmp/rocem-no-such-dir/rocem/rocemd.sock"));
        CHECK_THAT(last_error(), Contains("/run/rocem/rocemd.sock"));
    }
    CHECK(rocem_open(std::string(200, 'x').c_str(), nullptr) == nullptr);
    CHECK(errno == ENAMETOOLONG);
}

TEST_CASE("rocem_open__no_version_in_common") {
    FakeDaemon daemon;
    daemon.set_hook([](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto hello = ipc::read_message<rocem_abi_hello_request>(request.bytes());
        CHECK(hello.magic == ROCEM_ABI_MAGIC);
        CHECK(hello.version_min == 1);
        CHECK(hello.version_max == 1);
        self.refuse(socket, request, EPROTONOSUPPORT,
                    "this daemon speaks versions 7 to 9, the client 1 to 1");
        return true;
    });
    CHECK(rocem_open(daemon.path().c_str(), nullptr) == nullptr);
    CHECK(errno == EPROTONOSUPPORT);
    CHECK(last_error() == "rocem_open: this daemon speaks versions 7 to 9, the client 1 to 1");
}

TEST_CASE("rocem_open__a_version_that_was_not_offered") {
    FakeDaemon daemon;
    replace(daemon, MessageType::hello, [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
        auto reply = ipc::make_reply<rocem_abi_hello_reply>(header);
        reply.magic = ROCEM_ABI_MAGIC;
        reply.version = 2;
        self.answer(socket, reply);
    });
    CHECK(rocem_open(daemon.path().c_str(), nullptr) == nullptr);
    CHECK(errno == EPROTONOSUPPORT);
}

TEST_CASE("rocem_open__what_answers_is_no_rocemd") {
    FakeDaemon daemon;
    replace(daemon, MessageType::hello, [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
        auto reply = ipc::make_reply<rocem_abi_hello_reply>(header);
        reply.version = 1;
        self.answer(socket, reply);
    });
    CHECK(rocem_open(daemon.path().c_str(), nullptr) == nullptr);
    CHECK(errno == EPROTO);
}

TEST_CASE("rocem_open__an_unknown_nic") {
    FakeDaemon daemon;
    daemon.set_hook([](FakeDaemon& self, int socket, const ipc::ReceivedMessage& request) {
        const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
        if (header.type != ROCEM_ABI_OPEN_NIC) return false;
        self.refuse(socket, request, ENODEV, "nic: there is no mlx5_0");
        return true;
    });
    CHECK(rocem_open(daemon.path().c_str(), "mlx5_0") == nullptr);
    CHECK(errno == ENODEV);
    CHECK(last_error() == "rocem_open: nic: there is no mlx5_0");
    CHECK(rocem_open(daemon.path().c_str(), std::string(100, 'n').c_str()) == nullptr);
    CHECK(errno == ENODEV);
}

TEST_CASE("rocem_open__segments_that_could_vanish_are_refused") {
    FakeDaemon daemon;
    replace(daemon, MessageType::open_nic, [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
        auto reply = ipc::make_reply<rocem_abi_open_nic_reply>(header);
        reply.counters_page_bytes = 4096;
        // Right size, no seals.
        const ipc::UniqueFd fd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        REQUIRE(::ftruncate(fd.get(), 65536) == 0);
        const std::array fds = {fd.get(), fd.get(), fd.get(), fd.get(), fd.get()};
        self.answer(socket, reply, fds);
    });
    CHECK(rocem_open(daemon.path().c_str(), nullptr) == nullptr);
    CHECK(errno == EPROTO);
}

TEST_CASE("rocem_open__descriptors_that_are_missing") {
    FakeDaemon daemon;
    replace(daemon, MessageType::open_nic, [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
        self.answer(socket, ipc::make_reply<rocem_abi_open_nic_reply>(header));
    });
    CHECK(rocem_open(daemon.path().c_str(), nullptr) == nullptr);
    CHECK(errno == EPROTO);
}

TEST_CASE("ask__an_answer_that_is_none_ends_the_session") {
    struct Case {
        const char* name;
        std::function<void(FakeDaemon&, int, const rocem_abi_header&)> reply;
    };
    const std::vector<Case> cases = {
        {"of another request",
         [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
             auto reply = ipc::make_reply<rocem_abi_alloc_pd_reply>(header);
             ++reply.header.request_id;
             self.answer(socket, reply);
         }},
        {"of another type",
         [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
             auto reply = ipc::make_reply<rocem_abi_alloc_pd_reply>(header);
             reply.header.type = ROCEM_ABI_CREATE_CHANNEL;
             self.answer(socket, reply);
         }},
        {"of another length",
         [](FakeDaemon& self, int socket, const rocem_abi_header& header) {
             self.answer(socket, ipc::make_reply<rocem_abi_query_qp_reply>(header));
         }},
        {"too long for any message",
         [](FakeDaemon& self, int socket, const rocem_abi_header&) {
             self.answer(socket, std::array<char, 2000>{});
         }},
    };
    for (const Case& wrong : cases) {
        DYNAMIC_SECTION(wrong.name) {
            Rig rig;
            replace(rig.daemon, MessageType::alloc_pd, wrong.reply);
            CHECK(rocem_alloc_pd(rig.context) == nullptr);
            CHECK(errno == EPROTO);
            CHECK(rocem_alloc_pd(rig.context) == nullptr);
            CHECK(errno == EIO);
        }
    }
}

TEST_CASE("rocem_query_counter__reads_the_shared_page") {
    Rig rig;
    const char* label = nullptr;
    std::uint64_t value = 0;
    REQUIRE(rocem_query_counter(rig.context, 1, &label, &value) == 0);
    CHECK(label == std::string("retransmitted_packets"));
    CHECK(value == 22);
    CHECK(rocem_query_counter(rig.context, 2, &label, &value) == ENOENT);
}

TEST_CASE("management__needs_no_nic") {
    FakeDaemon daemon;
    rocem_nic_info nics[3] = {};
    REQUIRE(rocem_list_nics(daemon.path().c_str(), nics, 3) == 2);
    CHECK(nics[0].name == std::string("fake0"));
    CHECK(nics[1].name == std::string("fake1"));
    CHECK(nics[1].node_guid == 2);
    CHECK(rocem_list_nics(daemon.path().c_str(), nullptr, 0) == 2);
    char* text = rocem_ask_daemon(daemon.path().c_str(), "status");
    REQUIRE(text != nullptr);
    CHECK(text == std::string("{\"fake\": true}"));
    std::free(text);
    CHECK(rocem_list_nics("/tmp/rocem-none.sock", nics, 3) == -ENOENT);
}

}  // namespace
}  // namespace rocem::test
