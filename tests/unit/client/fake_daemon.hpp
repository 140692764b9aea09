// A daemon that speaks the ABI and does what the test says: no NIC, no engine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ipc/control_codec.hpp"
#include "ipc/doorbell.hpp"
#include "ipc/message_socket.hpp"
#include "ipc/ring.hpp"
#include "ipc/shared_region.hpp"

namespace rocem::test {

// What was posted, as the daemon reads it.
struct TakenSend {
    std::uint32_t index = 0;
    ipc::SendWqe wqe{};
    std::vector<ipc::Sge> sges;
    std::string inline_bytes;
};

struct TakenRecv {
    std::uint32_t index = 0;
    ipc::RecvWqe wqe{};
    std::vector<ipc::Sge> sges;
};

class FakeDaemon {
 public:
    FakeDaemon();
    ~FakeDaemon();
    FakeDaemon(const FakeDaemon&) = delete;
    FakeDaemon& operator=(const FakeDaemon&) = delete;

    const std::string& path() const { return path_; }

    // Called for each request before the daemon's own handling. True: the hook has answered (or chose not
    // to). Runs on the daemon's thread; set it while no request is under way.
    using Hook = std::function<bool(FakeDaemon& daemon, int socket, const ipc::ReceivedMessage& request)>;
    void set_hook(Hook hook);

    void refuse(int socket, const ipc::ReceivedMessage& request, int error, const char* reason);
    template <class Message>
    void answer(int socket, const Message& message, std::span<const int> fds = {}) {
        ipc::send_message(socket, ipc::bytes_of(message), fds, ipc::Wait::block);
    }

    // --- the worker's side of the last session; from the test's thread ---
    std::vector<TakenSend> take_sends(std::uint32_t qp_slot);
    std::vector<TakenRecv> take_recvs(std::uint32_t qp_slot);
    ipc::Cqe completion(std::uint32_t qp_slot, std::uint32_t wqe_index, std::uint8_t opcode,
                        std::uint8_t status = 0);
    // Publishes and, if the CQ is armed for it, sends the event. False: the ring is full.
    bool complete(std::uint32_t cq_slot, const ipc::Cqe& cqe, bool solicited = false);
    void send_async(std::uint32_t type, std::uint32_t slot);
    // The event of a CQ as if its arm had been taken.
    void send_cq_event(std::uint32_t cq_slot);
    void set_sleeping(bool sleeping);
    std::uint64_t doorbell_rings();
    bool is_marked(bool send, std::uint32_t qp_slot);
    ipc::CqHead& cq_head(std::uint32_t cq_slot);
    rocem_abi_modify_qp_request last_modify();
    std::size_t sessions();

    // Closes every descriptor, as a process that dies does.
    void die();

 private:
    struct Cq {
        ipc::SharedRegion region;
        ipc::CqHead* head = nullptr;
        ipc::Producer ring;
        std::uint32_t epoch = 0;
        std::uint32_t channel = 0;
    };
    struct Qp {
        std::uint32_t epoch = 0;
        rocem_abi_qp_caps caps{};
        ipc::SharedRegion region;
        ipc::UntrustedConsumer send;
        ipc::UntrustedConsumer recv;
    };
    struct Session {
        ipc::UniqueFd socket;
        ipc::SharedRegion segment;
        ipc::UniqueFd doorbell;
        ipc::UniqueFd events;
        std::map<std::uint32_t, ipc::UniqueFd> channels;
        std::map<std::uint32_t, Cq> cqs;
        std::map<std::uint32_t, Qp> qps;
        std::map<std::uint32_t, ipc::SharedRegion> regions;

        ipc::SessionSegment& shared() {
            return *reinterpret_cast<ipc::SessionSegment*>(segment.mapping.data());
        }
    };

    void run();
    // False: the session is over.
    bool serve(Session& session);
    void handle(Session& session, const ipc::ReceivedMessage& request);
    void open_nic(Session& session, const rocem_abi_header& header);
    void create_cq(Session& session, const rocem_abi_create_cq_request& request);
    void create_qp(Session& session, const rocem_abi_create_qp_request& request);
    void modify_qp(Session& session, const rocem_abi_modify_qp_request& request);
    void done(Session& session, const rocem_abi_header& header);
    void publish_event(Session& session, std::uint32_t cq_slot);
    Session& last() { return *sessions_.back(); }

    std::string directory_;
    std::string path_;
    ipc::UniqueFd listener_;
    ipc::UniqueFd stop_;
    ipc::SharedRegion worker_page_;
    ipc::SharedRegion counters_;
    std::mutex mutex_;  // of everything below
    Hook hook_;
    std::vector<std::unique_ptr<Session>> sessions_;
    rocem_abi_modify_qp_request last_modify_{};
    std::uint32_t next_id_ = 1;
    std::thread thread_;
};

}  // namespace rocem::test
