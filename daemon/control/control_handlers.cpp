#include "daemon/control/control_handlers.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "ipc/doorbell.hpp"

namespace rocem::daemon {
namespace {

// No vendor: a number that no driver of rdma-core takes for its own.
constexpr std::uint32_t vendor_id = 0xffffff;

constexpr std::uint64_t logged_refusals_max = 100;

rocem_abi_device describe(const NicView& nic, const std::string& version) {
    const engine::DeviceLimits& limits = nic.engine.limits;
    rocem_abi_device device{};
    ipc::set_text(device.name, nic.settings.name);
    ipc::set_text(device.version, version);
    device.node_guid = nic.settings.node_guid;
    device.sys_image_guid = nic.settings.node_guid;
    device.max_mr_size = limits.max_mr_size;
    device.max_msg_size = limits.max_msg_sz;
    device.max_qp = std::min(limits.max_qp, std::uint32_t{ROCEM_ABI_QUEUE_SLOTS_MAX});
    device.max_qp_wr = limits.max_qp_wr;
    device.max_sge = limits.max_sge;
    device.max_inline_data = limits.max_inline_data;
    device.max_cq = std::min(limits.max_cq, std::uint32_t{ROCEM_ABI_QUEUE_SLOTS_MAX});
    device.max_cqe = limits.max_cqe;
    device.max_mr = limits.max_mr;
    device.max_pd = limits.max_pd;
    device.max_qp_rd_atom = limits.max_qp_rd_atom;
    device.atomic_cap = 1;
    device.vendor_id = vendor_id;
    device.vendor_part_id = nic.settings.vendor_part_id;
    device.hardware_version = 1;
    device.comp_vectors = 1;
    device.port_count = 1;
    return device;
}

}  // namespace

ControlHandlers::ControlHandlers(SessionId id, const PeerIdentity& peer, const Services& services)
    : id_(id),
      peer_(peer),
      services_(services),
      memory_({.bytes_max = services.limits.session_memory_bytes_max,
               .segments_max = services.limits.session_segments_max}) {}

ControlHandlers::Handler ControlHandlers::handler_of(ipc::MessageType type) {
    // In the order of enum rocem_abi_message_type, from 1.
    static constexpr std::array<Handler, ROCEM_ABI_MANAGEMENT> handlers{
        &ControlHandlers::hello,           &ControlHandlers::list_nics,    &ControlHandlers::open_nic,
        &ControlHandlers::query_port,      &ControlHandlers::query_gid,    &ControlHandlers::alloc_pd,
        &ControlHandlers::dealloc_pd,      &ControlHandlers::alloc_memory, &ControlHandlers::free_memory,
        &ControlHandlers::reg_mr,          &ControlHandlers::dereg_mr,     &ControlHandlers::create_channel,
        &ControlHandlers::destroy_channel, &ControlHandlers::create_cq,    &ControlHandlers::destroy_cq,
        &ControlHandlers::create_qp,       &ControlHandlers::modify_qp,    &ControlHandlers::query_qp,
        &ControlHandlers::destroy_qp,      &ControlHandlers::management};
    return handlers[static_cast<std::size_t>(type) - 1];
}

void ControlHandlers::handle(const ipc::ReceivedMessage& message) {
    if (end_reason_) return;
    const ipc::CheckedHeader checked = ipc::check_request(message.bytes());
    if (checked.error != ipc::DecodeError::none) {
        end(fmt::format("a message of type {} and {} bytes: {}", checked.header.type, message.size,
                        ipc::sentence_of(checked.error)));
        return;
    }
    if (message.fd_count != 0) {
        end(fmt::format("{} with {} file descriptors, expected none", ipc::name_of(checked.header.type),
                        message.fd_count));
        return;
    }
    const auto type = static_cast<ipc::MessageType>(checked.header.type);
    if (!greeted_ && type != ipc::MessageType::hello) {
        end(fmt::format("{} before hello", ipc::name_of(checked.header.type)));
        return;
    }
    const bool needs_nic = type > ipc::MessageType::open_nic && type != ipc::MessageType::management;
    if (needs_nic && !nic_) {
        refuse(checked.header, EINVAL, fmt::format("{}: no NIC is open", ipc::name_of(checked.header.type)));
        return;
    }
    (this->*handler_of(type))(message.bytes());
}

void ControlHandlers::handle_answer(std::uint32_t ticket, Answer&& answer) {
    if (auto* violated = std::get_if<SessionViolated>(&answer)) {
        end(std::move(violated->text));
        return;
    }
    const auto found = pending_.find(ticket);
    if (found == pending_.end()) return;
    const Continuation then = std::move(found->second);
    pending_.erase(found);
    then(std::move(answer));
}

void ControlHandlers::end(std::string reason) {
    if (!end_reason_) end_reason_ = std::move(reason);
}

void ControlHandlers::begin_close() {
    if (closing_) return;
    closing_ = true;
    if (nic_) ask(CloseSession{}, [](Answer&&) {});
}

void ControlHandlers::announce_shutdown() {
    if (!event_socket_) return;
    rocem_abi_async_event event{};
    event.type = 8;  // IBV_EVENT_DEVICE_FATAL
    ipc::send_event(event_socket_.get(), &event, sizeof(event));
}

SessionFacts ControlHandlers::facts() const {
    SessionFacts facts;
    facts.id = id_;
    facts.pid = peer_.pid;
    facts.uid = peer_.uid;
    facts.program = program_;
    if (nic_) facts.nic = nic().settings.name;
    facts.qps = qps_.size();
    facts.cqs = cqs_.size();
    facts.mrs = mr_regions_.size();
    facts.memory_bytes = memory_.bytes();
    return facts;
}

// --- asking and answering ---

void ControlHandlers::ask(Command command, Continuation then) {
    ask_worker(services_.nics[*nic_].worker, std::move(command), std::move(then));
}

void ControlHandlers::ask_worker(std::size_t worker, Command command, Continuation then) {
    WorkerLink& link = *services_.workers[worker].link;
    const std::uint32_t ticket = next_ticket_++;
    pending_.emplace(ticket, std::move(then));
    WorkerCommand message{.session = id_, .request_id = ticket, .command = std::move(command)};
    [[maybe_unused]] const bool pushed = link.commands.try_push(std::move(message));
    assert(pushed);  // see WorkerLink's sizes
    link.command_waker.notify();
}

void ControlHandlers::refuse(const Header& request, int error, const std::string& reason) {
    // A client must not fill the log.
    if (refusals_ < logged_refusals_max) {
        services_.log->info("session {} (pid {}): {} refused with {}: {}", id_, peer_.pid,
                            ipc::name_of(request.type), std::strerror(error), reason);
    }
    if (++refusals_ == logged_refusals_max) {
        services_.log->info("session {} (pid {}): further refusals are not logged", id_, peer_.pid);
    }
    reply(ipc::make_refusal(request, error, reason));
}

std::shared_ptr<ControlHandlers::Fds> ControlHandlers::copy_fds(const Header& request,
                                                                std::span<const int> originals) {
    const auto copies = std::make_shared<Fds>();
    for (const int original : originals) {
        copies->emplace_back(::fcntl(original, F_DUPFD_CLOEXEC, 0));
        if (copies->back()) continue;
        refuse(request, EMFILE, "the daemon has no file descriptor left (RLIMIT_NOFILE)");
        return nullptr;
    }
    return copies;
}

bool ControlHandlers::refused(const Header& request, const Answer& answer) {
    const auto* refusal = std::get_if<Refusal>(&answer);
    if (refusal == nullptr) return false;
    refuse(request, refusal->error, refusal->text);
    return true;
}

// --- before and with a NIC ---

void ControlHandlers::hello(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_hello_request>(bytes);
    if (greeted_) {
        end("a second hello");
        return;
    }
    if (request.magic != ROCEM_ABI_MAGIC) {
        end(fmt::format("hello with magic {:#x}", request.magic));
        return;
    }
    const std::uint16_t version = ipc::agree_on_version(request.version_min, request.version_max);
    if (version == 0) {
        refuse(request.header, EPROTONOSUPPORT,
               fmt::format("version: the client speaks {} to {}, this daemon {} to {}", request.version_min,
                           request.version_max, ROCEM_ABI_VERSION_MIN, ROCEM_ABI_VERSION_MAX));
        end("no common version of the shared-memory interface");
        return;
    }
    greeted_ = true;
    program_ = ipc::text_in(request.program);
    auto answer = ipc::make_reply<rocem_abi_hello_reply>(request.header);
    answer.magic = ROCEM_ABI_MAGIC;
    answer.version = version;
    answer.nic_count = static_cast<std::uint16_t>(services_.nics.size());
    ipc::set_text(answer.daemon_version, services_.version);
    reply(answer);
}

void ControlHandlers::list_nics(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_list_nics_request>(bytes);
    if (request.index >= services_.nics.size()) {
        refuse(request.header, ENOENT,
               fmt::format("index: {} is not below the number of NICs, {}", request.index,
                           services_.nics.size()));
        return;
    }
    const config::NicSettings& settings = services_.nics[request.index].settings;
    auto answer = ipc::make_reply<rocem_abi_list_nics_reply>(request.header);
    ipc::set_text(answer.name, settings.name);
    answer.node_guid = settings.node_guid;
    reply(answer);
}

void ControlHandlers::open_nic(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_open_nic_request>(bytes);
    if (nic_ || opening_) {
        refuse(request.header, EBUSY, "open_nic: this session has a NIC already");
        return;
    }
    const std::string_view name = ipc::text_in(request.name);
    NicIndex index = 0;
    while (index < services_.nics.size() && !name.empty() && services_.nics[index].settings.name != name)
        ++index;
    if (index == services_.nics.size()) {
        refuse(request.header, ENODEV, fmt::format("name: there is no NIC named \"{}\"", name));
        return;
    }
    if (!make_session_resources()) {
        refuse(request.header, ENOMEM,
               fmt::format("open_nic: no memory or descriptor left: {}", std::strerror(errno)));
        return;
    }
    const NicView& chosen = services_.nics[index];
    const std::array<int, 5> originals{
        session_segment_.fd.get(), services_.workers[chosen.worker].page->fd.get(),
        chosen.shown_counters->descriptor(), doorbell_.get(), client_event_socket_.get()};
    const auto fds = copy_fds(request.header, originals);
    // The client's end must be the client's alone, or it would never see the end of file.
    client_event_socket_.reset();
    session_segment_.fd.reset();
    if (fds == nullptr) return;
    opening_ = true;
    nic_ = index;
    ask(OpenSession{.nic = index,
                    .segment = reinterpret_cast<ipc::SessionSegment*>(session_segment_.mapping.data()),
                    .doorbell = doorbell_.get(),
                    .event_socket = event_socket_.get()},
        [this, header = request.header, fds](Answer&& answer) {
            opening_ = false;
            if (refused(header, answer)) {
                nic_.reset();
                return;
            }
            reply_opened(header, std::move(*fds));
        });
}

bool ControlHandlers::make_session_resources() {
    session_segment_ = ipc::make_region("rocem-session", sizeof(ipc::SessionSegment));
    doorbell_ = ipc::make_doorbell();
    ipc::SocketPair sockets = ipc::make_event_sockets();
    if (!session_segment_ || !doorbell_ || !sockets.daemon_end) return false;
    auto* const segment = reinterpret_cast<ipc::SessionSegment*>(session_segment_.mapping.data());
    segment->magic = ROCEM_ABI_MAGIC;
    segment->version = ROCEM_ABI_VERSION_MAX;
    event_socket_ = std::move(sockets.daemon_end);
    client_event_socket_ = std::move(sockets.client_end);
    return true;
}

void ControlHandlers::reply_opened(const Header& request, Fds fds) {
    auto answer = ipc::make_reply<rocem_abi_open_nic_reply>(request);
    answer.device = describe(nic(), services_.version);
    answer.counters_page_bytes = nic().shown_counters->bytes();
    reply(answer, std::move(fds));
    services_.log->info("session {}: pid {}, uid {}, program \"{}\" opened {}", id_, peer_.pid, peer_.uid,
                        program_, nic().settings.name);
}

void ControlHandlers::query_port(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_query_port_request>(bytes);
    if (request.port_num != 1) {
        refuse(request.header, EINVAL, fmt::format("port_num: {} is not 1", request.port_num));
        return;
    }
    auto answer = ipc::make_reply<rocem_abi_query_port_reply>(request.header);
    answer.state = 4;  // IBV_PORT_ACTIVE
    answer.max_mtu = 5;
    answer.active_mtu = nic().engine.active_mtu.enum_value();
    answer.link_layer = 2;      // IBV_LINK_LAYER_ETHERNET
    answer.active_width = 2;    // 4X
    answer.active_speed = 32;   // EDR: 4 x 25 Gb/s, what a core can carry
    answer.physical_state = 5;  // link up
    answer.gid_table_length = static_cast<std::uint32_t>(nic().engine.gid_table.size());
    answer.pkey_table_length = static_cast<std::uint32_t>(nic().engine.pkey_table.size());
    answer.max_msg_size = static_cast<std::uint32_t>(nic().engine.limits.max_msg_sz);
    reply(answer);
}

void ControlHandlers::query_gid(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_query_gid_request>(bytes);
    const std::vector<protocol::Gid>& table = nic().engine.gid_table;
    if (request.port_num != 1) {
        refuse(request.header, EINVAL, fmt::format("port_num: {} is not 1", request.port_num));
        return;
    }
    if (request.index >= table.size()) {
        refuse(request.header, EINVAL,
               fmt::format("index: {} is beyond the GID table of {} entries", request.index, table.size()));
        return;
    }
    if (table[request.index].is_zero()) {
        reply(ipc::make_refusal(request.header, ENODATA, "index: this entry of the GID table is empty"));
        return;
    }
    auto answer = ipc::make_reply<rocem_abi_query_gid_reply>(request.header);
    std::copy(table[request.index].bytes.begin(), table[request.index].bytes.end(), std::begin(answer.gid));
    answer.gid_type = 2;  // IBV_GID_TYPE_ROCE_V2
    reply(answer);
}

// --- management ---

void ControlHandlers::management(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_management_request>(bytes);
    if (request.text_bytes > sizeof(request.text)) {
        end(fmt::format("management with text_bytes {}", request.text_bytes));
        return;
    }
    const auto question = parse_question({request.text, request.text_bytes}, services_);
    if (!question) {
        refuse(request.header, EINVAL, question.error());
        return;
    }
    switch (question->subject) {
        case Subject::status:
            return reply_text(request.header, status_text(services_));
        case Subject::nics:
            return reply_text(request.header, nics_text(services_, question->nic));
        case Subject::counters:
            return reply_text(request.header, counters_text(services_, question->nic));
        case Subject::qps:
            return ask_all_for_qps(request.header, *question);
    }
}

void ControlHandlers::ask_all_for_qps(const Header& request, const ManagementQuestion& question) {
    struct Gathering {
        std::vector<QpFacts> qps;
        std::size_t missing = 0;
    };
    const auto gathering = std::make_shared<Gathering>();
    gathering->missing = services_.workers.size();
    for (std::size_t worker = 0; worker < services_.workers.size(); ++worker) {
        ask_worker(worker, ListQps{}, [this, request, question, gathering](Answer&& answer) {
            if (auto* list = std::get_if<QpList>(&answer)) {
                gathering->qps.insert(gathering->qps.end(), list->qps.begin(), list->qps.end());
            }
            if (--gathering->missing == 0)
                reply_text(request, qps_text(services_, question.nic, gathering->qps));
        });
    }
}

void ControlHandlers::reply_text(const Header& request, const std::string& text) {
    ipc::UniqueFd document = ipc::make_sealed_text("rocem-answer", text);
    if (!document) {
        refuse(request, ENOMEM,
               fmt::format("management: no memory for the answer: {}", std::strerror(errno)));
        return;
    }
    auto answer = ipc::make_reply<rocem_abi_management_reply>(request);
    answer.text_bytes = text.size();
    Fds fds;
    fds.push_back(std::move(document));
    reply(answer, std::move(fds));
}

}  // namespace rocem::daemon
