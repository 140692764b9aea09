// What one client asks over its control socket, and what it is told. No I/O: datagrams go in, messages come
// out.
//
// This side owns everything that the session's worker borrows: segments, descriptors, mappings. They go when
// the worker has said that the object, or the session, is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/control/management.hpp"
#include "daemon/control/services.hpp"
#include "daemon/control/session_memory.hpp"
#include "ipc/control_codec.hpp"
#include "ipc/message_socket.hpp"
#include "ipc/unique_fd.hpp"

namespace rocem::daemon {

struct PeerIdentity {
    pid_t pid = 0;  // 0: in a pid namespace that this daemon cannot see
    uid_t uid = 0;
};

struct OutgoingMessage {
    std::vector<std::byte> bytes;
    std::vector<ipc::UniqueFd> fds;
};

class ControlHandlers {
 public:
    ControlHandlers(SessionId id, const PeerIdentity& peer, const Services& services);
    ControlHandlers(const ControlHandlers&) = delete;
    ControlHandlers& operator=(const ControlHandlers&) = delete;

    // A datagram as it came; a malformed one ends the session.
    void handle(const ipc::ReceivedMessage& message);
    void handle_answer(std::uint32_t ticket, Answer&& answer);

    // To be sent in this order.
    std::deque<OutgoingMessage>& outgoing() { return outgoing_; }
    // False while as many requests are open as a session may have.
    bool may_receive() const { return pending_.size() < session_requests_max; }

    // Why the session must end; nothing while it may go on.
    const std::optional<std::string>& end_reason() const { return end_reason_; }
    void end(std::string reason);
    // The client is gone: has its worker destroy everything. Once.
    void begin_close();
    // No worker knows anything of the session any more.
    bool closed() const { return closing_ && pending_.empty(); }
    // The daemon ends: DEVICE_FATAL on the event socket.
    void announce_shutdown();

    SessionFacts facts() const;

 private:
    using Header = rocem_abi_header;
    using Fds = std::vector<ipc::UniqueFd>;
    using Continuation = std::function<void(Answer&&)>;
    using Handler = void (ControlHandlers::*)(std::span<const std::byte>);

    struct Region {
        ipc::SharedRegion memory;
        std::uint32_t mrs = 0;
    };
    struct Channel {
        ipc::UniqueFd daemon_end;
        std::uint32_t cqs = 0;
    };
    struct Cq {
        ipc::SegmentRef memory{};
        std::uint32_t channel = 0;  // 0: none
    };

    static Handler handler_of(ipc::MessageType type);

    void hello(std::span<const std::byte> bytes);
    void list_nics(std::span<const std::byte> bytes);
    void open_nic(std::span<const std::byte> bytes);
    void query_port(std::span<const std::byte> bytes);
    void query_gid(std::span<const std::byte> bytes);
    void alloc_pd(std::span<const std::byte> bytes);
    void dealloc_pd(std::span<const std::byte> bytes);
    void alloc_memory(std::span<const std::byte> bytes);
    void free_memory(std::span<const std::byte> bytes);
    void reg_mr(std::span<const std::byte> bytes);
    void dereg_mr(std::span<const std::byte> bytes);
    void create_channel(std::span<const std::byte> bytes);
    void destroy_channel(std::span<const std::byte> bytes);
    void create_cq(std::span<const std::byte> bytes);
    void destroy_cq(std::span<const std::byte> bytes);
    void create_qp(std::span<const std::byte> bytes);
    void modify_qp(std::span<const std::byte> bytes);
    void query_qp(std::span<const std::byte> bytes);
    void destroy_qp(std::span<const std::byte> bytes);
    void management(std::span<const std::byte> bytes);

    const NicView& nic() const { return services_.nics[*nic_]; }
    bool make_session_resources();
    void reply_opened(const Header& request, Fds fds);
    void ask_all_for_qps(const Header& request, const ManagementQuestion& question);
    void reply_text(const Header& request, const std::string& text);

    // Hands a command to the session's worker, or to `worker`; `then` gets the answer.
    void ask(Command command, Continuation then);
    void ask_worker(std::size_t worker, Command command, Continuation then);

    template <class Message>
    void reply(const Message& message, Fds fds = {});
    // Copies to be sent along: made before anything else of a command, so that one which has no descriptors
    // left is refused and leaves nothing. Empty: it was refused.
    std::shared_ptr<Fds> copy_fds(const Header& request, std::span<const int> originals);
    void accept(const Header& request) { reply(ipc::make_reply<rocem_abi_bare>(request)); }
    void refuse(const Header& request, int error, const std::string& reason);
    // True if the answer is a refusal, which was passed on.
    bool refused(const Header& request, const Answer& answer);

    SessionId id_;
    PeerIdentity peer_;
    const Services& services_;
    std::string program_;
    bool greeted_ = false;
    std::optional<NicIndex> nic_;  // set when the worker has opened the session
    bool opening_ = false;

    ipc::SharedRegion session_segment_;
    ipc::UniqueFd doorbell_;
    ipc::UniqueFd event_socket_;
    ipc::UniqueFd client_event_socket_;  // until it was sent
    SessionMemory memory_;
    std::map<std::uint32_t, Region> regions_;
    std::map<std::uint32_t, Channel> channels_;
    std::map<std::uint32_t, Cq> cqs_;                    // by slot
    std::map<std::uint32_t, ipc::SegmentRef> qps_;       // by slot
    std::map<std::uint32_t, std::uint32_t> mr_regions_;  // mr -> region
    std::uint32_t next_region_ = 1;
    std::uint32_t next_channel_ = 1;

    std::map<std::uint32_t, Continuation> pending_;  // by ticket
    std::uint32_t next_ticket_ = 1;
    std::uint64_t refusals_ = 0;
    std::deque<OutgoingMessage> outgoing_;
    std::optional<std::string> end_reason_;
    bool closing_ = false;
};

template <class Message>
void ControlHandlers::reply(const Message& message, Fds fds) {
    OutgoingMessage outgoing;
    const std::span<const std::byte> bytes = ipc::bytes_of(message);
    outgoing.bytes.assign(bytes.begin(), bytes.end());
    outgoing.fds = std::move(fds);
    outgoing_.push_back(std::move(outgoing));
}

}  // namespace rocem::daemon
