// The real rocemd as a process, and the client library against it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/rocem.h"
#include "control_rig.hpp"
#include "ipc/dirty_bitmap.hpp"
#include "ipc/doorbell.hpp"
#include "ipc/shared_region.hpp"

using namespace rocem;
using namespace rocem::test;
using ipc::MessageType;

namespace {

constexpr const char* settings_text = R"({"socket": {"path": "%"}, "nics": [
  {"name": "rocem0", "mac": "02:00:00:00:00:01", "addresses": ["10.1.0.1/24"],
   "port": {"type": "virtual_wire", "wire": "w"}},
  {"name": "rocem1", "mac": "02:00:00:00:00:02", "addresses": ["10.1.0.2/24"],
   "port": {"type": "virtual_wire", "wire": "w"}}]})";

class Process {
 public:
    // files_max: RLIMIT_NOFILE of the daemon; 0: as it is.
    explicit Process(rlim_t files_max = 0) {
        REQUIRE(::mkdtemp(directory_.data()) != nullptr);
        std::string text(settings_text);
        text.replace(text.find('%'), 1, path());
        std::ofstream(directory_ + "/config.json") << text;
        std::array<int, 2> log{};
        REQUIRE(::pipe2(log.data(), O_CLOEXEC) == 0);
        log_ = ipc::UniqueFd(log[0]);
        const ipc::UniqueFd write_end(log[1]);
        const std::string config = directory_ + "/config.json";
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(write_end.get(), STDERR_FILENO);
            if (files_max != 0) {
                const rlimit limit{files_max, files_max};
                ::setrlimit(RLIMIT_NOFILE, &limit);
            }
            ::execl(ROCEMD_PATH, "rocemd", "--config", config.c_str(), nullptr);
            ::_exit(127);
        }
        wait_for_log("ready on");
    }

    ~Process() {
        if (pid_ > 0) end(SIGKILL);
        for (const char* name : {"/config.json", "/s", "/s.lock"})
            ::unlink((directory_ + name).c_str());
        ::rmdir(directory_.c_str());
    }

    std::string path() const { return directory_ + "/s"; }
    pid_t pid() const { return pid_; }

    int end(int signal) {
        ::kill(pid_, signal);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

    // Reads the log up to a line with this text.
    void wait_for_log(const std::string& text) {
        while (log_text_.find(text) == std::string::npos) {
            std::array<char, 4096> buffer;
            const ssize_t got = ::read(log_.get(), buffer.data(), buffer.size());
            if (got <= 0) FAIL("the daemon ended: " << log_text_);
            log_text_.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }

    // User and system time so far.
    std::chrono::milliseconds cpu_time() const {
        std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
        std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        std::istringstream fields(text.substr(text.rfind(')') + 2));
        std::string skipped;
        for (int i = 0; i < 11; ++i)
            fields >> skipped;
        long user = 0;
        long system = 0;
        fields >> user >> system;
        return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
    }

 private:
    std::string directory_ = "/tmp/rocem-test-XXXXXX";
    ipc::UniqueFd log_;
    std::string log_text_;
    pid_t pid_ = -1;
};

rocem_qp* make_qp(rocem_pd* pd, rocem_cq* cq) {
    rocem_qp_init_attr init{};
    init.send_cq = cq;
    init.recv_cq = cq;
    init.cap = {4, 4, 1, 1, 0};
    init.qp_type = ROCEM_QPT_RC;
    return rocem_create_qp(pd, &init);
}

}  // namespace

TEST_CASE("a daemon with two NICs and a hundred idle QPs sleeps", "[process]") {
    Process daemon;
    rocem_context* context = rocem_open(daemon.path().c_str(), "rocem0");
    REQUIRE(context != nullptr);
    rocem_pd* pd = rocem_alloc_pd(context);
    rocem_cq* cq = rocem_create_cq(context, 64, nullptr, nullptr, 0);
    REQUIRE(cq != nullptr);
    std::vector<rocem_qp*> qps;
    for (int i = 0; i < 100; ++i) {
        rocem_qp* qp = make_qp(pd, cq);
        REQUIRE(qp != nullptr);
        qps.push_back(qp);
        rocem_qp_attr attr{};
        attr.qp_state = ROCEM_QPS_INIT;
        attr.port_num = 1;
        REQUIRE(rocem_modify_qp(
                    qp, &attr,
                    ROCEM_QP_STATE | ROCEM_QP_PKEY_INDEX | ROCEM_QP_PORT | ROCEM_QP_ACCESS_FLAGS) == 0);
    }
    // A share of CPU time: what is measured needs time to pass, nothing waits for it.
    constexpr std::chrono::milliseconds period(2000);
    const auto before = daemon.cpu_time();
    std::this_thread::sleep_for(period);
    CHECK((daemon.cpu_time() - before).count() * 100 < period.count() * 2);
    for (rocem_qp* qp : qps)
        CHECK(rocem_destroy_qp(qp) == 0);
    CHECK(rocem_destroy_cq(cq) == 0);
    CHECK(rocem_dealloc_pd(pd) == 0);
    CHECK(rocem_close(context) == 0);
}

TEST_CASE("SIGTERM tells clients and ends the daemon with 0", "[process]") {
    Process daemon;
    rocem_context* context = rocem_open(daemon.path().c_str(), nullptr);
    REQUIRE(context != nullptr);
    const int status = daemon.end(SIGTERM);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    rocem_async_event event{};
    REQUIRE(rocem_get_async_event(context, &event) == 0);
    CHECK(event.event_type == ROCEM_EVENT_DEVICE_FATAL);
    rocem_ack_async_event(&event);
    CHECK(rocem_alloc_pd(context) == nullptr);
    CHECK(errno == EIO);
    rocem_close(context);
}

TEST_CASE("a client that lies about its ring loses its session, and nobody else notices", "[process]") {
    Process daemon;
    rocem_context* bystander = rocem_open(daemon.path().c_str(), "rocem0");
    REQUIRE(bystander != nullptr);
    RawClient liar(daemon.path());
    REQUIRE(liar.greet());
    REQUIRE(liar.open_nic("rocem0"));
    const ipc::Mapping segment =
        ipc::map_sealed(liar.last.fds[0].get(), sizeof(ipc::SessionSegment), ipc::Access::read_write);
    const ipc::UniqueFd doorbell = std::move(liar.last.fds[3]);
    const auto pd =
        liar.ask<rocem_abi_alloc_pd_reply>(ipc::make_request<rocem_abi_bare>(MessageType::alloc_pd, 3));
    REQUIRE(pd);
    auto cq_request = ipc::make_request<rocem_abi_create_cq_request>(MessageType::create_cq, 4);
    cq_request.cqe = 4;
    const auto cq = liar.ask<rocem_abi_create_cq_reply>(cq_request);
    REQUIRE(cq);
    auto qp_request = ipc::make_request<rocem_abi_create_qp_request>(MessageType::create_qp, 5);
    qp_request.qp_type = 2;
    qp_request.pd = pd->pd;
    qp_request.send_cq_slot = qp_request.recv_cq_slot = cq->cq_slot;
    qp_request.caps = {4, 4, 1, 1, 0, 0};
    const auto qp = liar.ask<rocem_abi_create_qp_reply>(qp_request);
    REQUIRE(qp);
    const ipc::Mapping queues =
        ipc::map_sealed(liar.last.fds[0].get(), qp->segment.segment_bytes, ipc::Access::read_write);
    REQUIRE(queues);
    auto* head = reinterpret_cast<ipc::QpHead*>(queues.data() + qp->segment.offset);
    ipc::store_shared(head->send.producer, 0xdeadbeefu, std::memory_order_release);
    ipc::mark(reinterpret_cast<ipc::SessionSegment*>(segment.data())->send_dirty, qp->qp_slot);
    ipc::ring_doorbell(doorbell.get());
    CHECK(liar.reason_of_end().empty());
    daemon.wait_for_log("send producer index outside its window");
    rocem_pd* still = rocem_alloc_pd(bystander);
    REQUIRE(still != nullptr);
    CHECK(rocem_dealloc_pd(still) == 0);
    CHECK(rocem_close(bystander) == 0);
}

TEST_CASE("a client that fills its doorbell and makes it blocking stops nobody", "[process]") {
    Process daemon;
    RawClient client(daemon.path());
    REQUIRE(client.greet());
    REQUIRE(client.open_nic("rocem0"));
    const int doorbell = client.last.fds[3].get();
    const std::uint64_t almost_full = UINT64_MAX - 1;
    REQUIRE(::fcntl(doorbell, F_SETFL, 0) == 0);
    REQUIRE(::write(doorbell, &almost_full, sizeof(almost_full)) == sizeof(almost_full));
    for (int i = 0; i < 20; ++i) {
        rocem_context* context = rocem_open(daemon.path().c_str(), "rocem0");
        REQUIRE(context != nullptr);
        rocem_pd* pd = rocem_alloc_pd(context);
        REQUIRE(pd != nullptr);
        CHECK(rocem_dealloc_pd(pd) == 0);
        CHECK(rocem_close(context) == 0);
    }
}

TEST_CASE("a connection storm against 64 file descriptors ends in clear errors", "[process]") {
    Process daemon(64);
    std::vector<rocem_context*> contexts;
    std::string reason;
    for (int i = 0; i < 100 && reason.empty(); ++i) {
        rocem_context* context = rocem_open(daemon.path().c_str(), "rocem0");
        if (context == nullptr) {
            reason = rocem_last_error();
        } else {
            contexts.push_back(context);
        }
    }
    CHECK(contexts.size() > 3);
    CAPTURE(reason);
    CHECK(reason.find("descriptor") != std::string::npos);
    for (rocem_context* context : contexts)
        rocem_close(context);
    // Once the daemon has seen them go there is room again.
    rocem_context* later = nullptr;
    while (later == nullptr)
        later = rocem_open(daemon.path().c_str(), "rocem0");
    rocem_close(later);
    CHECK(WEXITSTATUS(daemon.end(SIGTERM)) == 0);
}
