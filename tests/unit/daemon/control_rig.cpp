#include "control_rig.hpp"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

namespace rocem::test {
namespace {

std::string make_directory() {
    std::string name = "/tmp/rocem-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    return name;
}

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

daemon::Answer grant(const daemon::WorkerCommand& command) {
    using namespace daemon;
    static std::atomic<std::uint32_t> number{0};
    return std::visit(
        Overloaded{[](const AllocPd&) -> Answer { return PdMade{.pd = number++}; },
                   [](const RegisterMr&) -> Answer {
                       return MrMade{.mr = number++, .l_key = protocol::LKey(5), .r_key = protocol::RKey(5)};
                   },
                   [](const CreateCq&) -> Answer { return CqMade{.slot = number++, .epoch = 1}; },
                   [](const CreateQp&) -> Answer {
                       return QpMade{.slot = number++, .epoch = 1, .qpn = protocol::Qpn(0x1234)};
                   },
                   [](const ModifyQp& modify) -> Answer {
                       return QpModified{.epoch = modify.epoch, .state = modify.attributes.state};
                   },
                   [](const QueryQp&) -> Answer { return QpQueried{}; },
                   [](const ListQps&) -> Answer { return QpList{}; },
                   [](const CloseSession&) -> Answer { return SessionClosed{}; },
                   [](const auto&) -> Answer { return Done{}; }},
        command.command);
}

ControlRig::ControlRig(config::LimitSettings limits)
    : directory_(make_directory()),
      log_("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_text_)),
      counters_({"rdma_tx_packets", "drops.icrc_mismatch"}),
      page_(ipc::make_region("test", sizeof(ipc::WorkerPage), ipc::Writers::maker)),
      link_(limits.sessions_max, answers_) {
    socket_.path = directory_ + "/rocemd.sock";
    socket_.mode = 0600;
    daemon::NicView nic;
    nic.settings.name = "rocem0";
    nic.settings.node_guid = 0x0200'00ff'fe00'0001;
    nic.engine.gid_table = {protocol::Gid::from_ipv4({{10, 0, 0, 1}}), protocol::Gid{}};
    nic.counters = &counters_;
    nic.shown_counters = &counters_;
    services_.version = "test";
    services_.socket_path = socket_.path;
    services_.limits = limits;
    services_.nics.push_back(nic);
    services_.workers.push_back({.name = "worker0", .link = &link_, .page = &page_});
    services_.clock = &clock_;
    services_.log = &log_;
    auto listener = daemon::ListenSocket::open(socket_);
    REQUIRE(listener);
    listener_.emplace(std::move(*listener));
    server_.emplace(*listener_, services_, answers_);
    worker_ = std::thread([this] { work(); });
    control_ = std::thread([this] { server_->run(); });
}

ControlRig::~ControlRig() {
    stop();
    listener_.reset();
    ::unlink((socket_.path + ".lock").c_str());
    ::rmdir(directory_.c_str());
}

std::string ControlRig::stop() {
    if (control_.joinable()) {
        server_->stop();
        control_.join();
        stopping_ = true;
        link_.command_waker.notify();
        worker_.join();
    }
    return log_text_.str();
}

void ControlRig::violate(daemon::SessionId session, const std::string& text) {
    const std::lock_guard lock(push_mutex_);
    link_.answers.try_push({.session = session, .request_id = 0, .answer = daemon::SessionViolated{text}});
    answers_.notify();
}

void ControlRig::work() {
    while (!stopping_) {
        pollfd entry{.fd = link_.command_waker.descriptor(), .events = POLLIN, .revents = 0};
        ::poll(&entry, 1, -1);
        link_.command_waker.clear();
        while (auto command = link_.commands.try_pop()) {
            const std::lock_guard lock(push_mutex_);
            link_.answers.try_push(
                {.session = command->session, .request_id = command->request_id, .answer = grant(*command)});
            answers_.notify();
        }
    }
}

ipc::UniqueFd RawClient::make_socket() {
    return ipc::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

RawClient::RawClient(const std::string& path) : RawClient(make_socket(), path) {}

RawClient::RawClient(ipc::UniqueFd socket, const std::string& path) : socket_(std::move(socket)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
}

bool RawClient::send(std::span<const std::byte> bytes, std::span<const int> fds) {
    return ipc::send_message(socket_.get(), bytes, fds, ipc::Wait::block) == ipc::Transfer::done;
}

bool RawClient::receive(ipc::ReceivedMessage& message) {
    return ipc::receive_message(socket_.get(), message, ipc::Wait::block) == ipc::Transfer::done;
}

std::string RawClient::reason_of_end() {
    std::string reason;
    while (receive(last)) {
        if (last.size == sizeof(rocem_abi_refusal)) {
            reason = ipc::text_in(ipc::read_message<rocem_abi_refusal>(last.bytes()).reason);
        }
    }
    return reason;
}

bool RawClient::greet() {
    const auto reply = ask<rocem_abi_hello_reply>(good_hello());
    return reply && reply->version == ROCEM_ABI_VERSION_MAX;
}

bool RawClient::open_nic(const std::string& name) {
    auto request = ipc::make_request<rocem_abi_open_nic_request>(ipc::MessageType::open_nic, 2);
    ipc::set_text(request.name, name);
    return ask<rocem_abi_open_nic_reply>(request).has_value();
}

rocem_abi_hello_request good_hello() {
    auto request = ipc::make_request<rocem_abi_hello_request>(ipc::MessageType::hello, 1);
    request.magic = ROCEM_ABI_MAGIC;
    request.version_min = ROCEM_ABI_VERSION_MIN;
    request.version_max = ROCEM_ABI_VERSION_MAX;
    ipc::set_text(request.program, "test");
    return request;
}

}  // namespace rocem::test
