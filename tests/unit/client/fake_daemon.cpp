#include "fake_daemon.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace rocem::test {
namespace {

using ipc::MessageType;

constexpr std::uint32_t counters_bytes = 4096;

[[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string("FakeDaemon: ") + what);
}

void fill_counters(ipc::Mapping& page) {
    auto& head = *reinterpret_cast<ipc::CountersPage*>(page.data());
    head.magic = ROCEM_ABI_MAGIC;
    head.count = 2;
    head.values_offset = 64;
    head.labels_offset = 128;
    const std::array<std::uint64_t, 2> values = {11, 22};
    std::memcpy(page.data() + head.values_offset, values.data(), sizeof(values));
    std::strcpy(reinterpret_cast<char*>(page.data() + head.labels_offset), "rdma_tx_packets");
    std::strcpy(reinterpret_cast<char*>(page.data() + head.labels_offset + ROCEM_ABI_LABEL_BYTES),
                "retransmitted_packets");
}

ipc::SegmentRef whole(std::uint32_t id, const ipc::SharedRegion& region) {
    return {id, 0, region.mapping.size(), 0, region.mapping.size()};
}

}  // namespace

FakeDaemon::FakeDaemon() {
    char directory[] = "/tmp/rocem-fake-XXXXXX";
    if (::mkdtemp(directory) == nullptr) fail("mkdtemp");
    directory_ = directory;
    path_ = directory_ + "/d";
    listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fail("bind");
    if (::listen(listener_.get(), 8) != 0) fail("listen");
    stop_.reset(::eventfd(0, EFD_CLOEXEC));
    worker_page_ = ipc::make_region("fake-worker", sizeof(ipc::WorkerPage), ipc::Writers::maker);
    reinterpret_cast<ipc::WorkerPage*>(worker_page_.mapping.data())->magic = ROCEM_ABI_MAGIC;
    counters_ = ipc::make_region("fake-counters", counters_bytes, ipc::Writers::maker);
    fill_counters(counters_.mapping);
    thread_ = std::thread([this] { run(); });
}

FakeDaemon::~FakeDaemon() {
    die();
    ::unlink(path_.c_str());
    ::rmdir(directory_.c_str());
}

void FakeDaemon::die() {
    if (thread_.joinable()) {
        const std::uint64_t one = 1;
        if (::write(stop_.get(), &one, sizeof(one)) != sizeof(one)) fail("write");
        thread_.join();
    }
    listener_.reset();
    const std::lock_guard lock(mutex_);
    for (auto& session : sessions_) {
        session->socket.reset();
        session->events.reset();
        session->channels.clear();
    }
}

void FakeDaemon::run() {
    for (;;) {
        std::vector<pollfd> watched = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        {
            const std::lock_guard lock(mutex_);
            for (auto& session : sessions_)
                watched.push_back({session->socket.get(), POLLIN, 0});
        }
        if (::poll(watched.data(), watched.size(), -1) < 0) continue;
        if (watched[0].revents != 0) return;
        const std::lock_guard lock(mutex_);
        if (watched[1].revents != 0) {
            auto session = std::make_unique<Session>();
            session->socket.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            sessions_.push_back(std::move(session));
        }
        for (std::size_t i = 2; i < watched.size(); ++i) {
            Session& session = *sessions_[i - 2];
            if (watched[i].revents != 0 && !serve(session)) session.socket.reset();
        }
    }
}

bool FakeDaemon::serve(Session& session) {
    ipc::ReceivedMessage request;
    if (ipc::receive_message(session.socket.get(), request, ipc::Wait::dont_wait) != ipc::Transfer::done)
        return false;
    if (ipc::check_request(request.bytes()).error != ipc::DecodeError::none) return false;
    if (hook_ && hook_(*this, session.socket.get(), request)) return true;
    handle(session, request);
    return true;
}

void FakeDaemon::refuse(int socket, const ipc::ReceivedMessage& request, int error, const char* reason) {
    answer(socket, ipc::make_refusal(ipc::read_message<rocem_abi_header>(request.bytes()), error, reason));
}

void FakeDaemon::done(Session& session, const rocem_abi_header& header) {
    answer(session.socket.get(), ipc::make_reply<rocem_abi_bare>(header));
}

void FakeDaemon::handle(Session& session, const ipc::ReceivedMessage& request) {
    const auto header = ipc::read_message<rocem_abi_header>(request.bytes());
    const int socket = session.socket.get();
    switch (static_cast<MessageType>(header.type)) {
        case MessageType::hello: {
            auto reply = ipc::make_reply<rocem_abi_hello_reply>(header);
            reply.magic = ROCEM_ABI_MAGIC;
            reply.version = 1;
            reply.nic_count = 2;
            return answer(socket, reply);
        }
        case MessageType::list_nics: {
            auto reply = ipc::make_reply<rocem_abi_list_nics_reply>(header);
            const auto asked = ipc::read_message<rocem_abi_list_nics_request>(request.bytes());
            ipc::set_text(reply.name, asked.index == 0 ? "fake0" : "fake1");
            reply.node_guid = asked.index + 1;
            return answer(socket, reply);
        }
        case MessageType::open_nic:
            return open_nic(session, header);
        case MessageType::query_port: {
            auto reply = ipc::make_reply<rocem_abi_query_port_reply>(header);
            reply.state = 4;
            reply.active_mtu = 3;
            reply.max_mtu = 5;
            reply.gid_table_length = 2;
            return answer(socket, reply);
        }
        case MessageType::query_gid: {
            auto reply = ipc::make_reply<rocem_abi_query_gid_reply>(header);
            reply.gid[15] = 9;
            return answer(socket, reply);
        }
        case MessageType::alloc_pd: {
            auto reply = ipc::make_reply<rocem_abi_alloc_pd_reply>(header);
            reply.pd = next_id_++;
            return answer(socket, reply);
        }
        case MessageType::alloc_memory: {
            const auto asked = ipc::read_message<rocem_abi_alloc_memory_request>(request.bytes());
            auto reply = ipc::make_reply<rocem_abi_alloc_memory_reply>(header);
            reply.region = next_id_++;
            ipc::SharedRegion& region = session.regions[reply.region];
            region = ipc::make_region("fake-memory", asked.bytes);
            reply.bytes = region.mapping.size();
            return answer(socket, reply, std::array{region.fd.get()});
        }
        case MessageType::reg_mr: {
            auto reply = ipc::make_reply<rocem_abi_reg_mr_reply>(header);
            reply.mr = next_id_++;
            reply.lkey = reply.rkey = 0x1000 + reply.mr;
            return answer(socket, reply);
        }
        case MessageType::create_channel: {
            auto reply = ipc::make_reply<rocem_abi_create_channel_reply>(header);
            ipc::SocketPair pair = ipc::make_event_sockets();
            reply.channel = next_id_++;
            answer(socket, reply, std::array{pair.client_end.get()});
            session.channels[reply.channel] = std::move(pair.daemon_end);
            return;
        }
        case MessageType::create_cq:
            return create_cq(session, ipc::read_message<rocem_abi_create_cq_request>(request.bytes()));
        case MessageType::create_qp:
            return create_qp(session, ipc::read_message<rocem_abi_create_qp_request>(request.bytes()));
        case MessageType::modify_qp:
            return modify_qp(session, ipc::read_message<rocem_abi_modify_qp_request>(request.bytes()));
        case MessageType::query_qp: {
            auto reply = ipc::make_reply<rocem_abi_query_qp_reply>(header);
            reply.attributes = last_modify_.attributes;
            return answer(socket, reply);
        }
        case MessageType::management: {
            auto reply = ipc::make_reply<rocem_abi_management_reply>(header);
            const std::string_view text = "{\"fake\": true}";
            const ipc::UniqueFd fd = ipc::make_sealed_text("fake-answer", text);
            reply.text_bytes = text.size();
            return answer(socket, reply, std::array{fd.get()});
        }
        case MessageType::destroy_cq:
            session.cqs.erase(ipc::read_message<rocem_abi_object_request>(request.bytes()).object);
            return done(session, header);
        case MessageType::destroy_qp:
            session.qps.erase(ipc::read_message<rocem_abi_object_request>(request.bytes()).object);
            return done(session, header);
        case MessageType::destroy_channel:
        case MessageType::dealloc_pd:
        case MessageType::free_memory:
        case MessageType::dereg_mr:
            return done(session, header);
    }
}

void FakeDaemon::open_nic(Session& session, const rocem_abi_header& header) {
    session.segment = ipc::make_region("fake-session", sizeof(ipc::SessionSegment));
    session.shared().magic = ROCEM_ABI_MAGIC;
    session.shared().version = 1;
    session.doorbell = ipc::make_doorbell();
    ipc::SocketPair events = ipc::make_event_sockets();
    auto reply = ipc::make_reply<rocem_abi_open_nic_reply>(header);
    ipc::set_text(reply.device.name, "fake0");
    reply.device.max_msg_size = std::uint64_t{1} << 31;
    reply.device.max_qp_wr = 32768;
    reply.counters_page_bytes = counters_bytes;
    const std::array fds = {session.segment.fd.get(), worker_page_.fd.get(), counters_.fd.get(),
                            session.doorbell.get(), events.client_end.get()};
    answer(session.socket.get(), reply, fds);
    session.events = std::move(events.daemon_end);
}

void FakeDaemon::create_cq(Session& session, const rocem_abi_create_cq_request& request) {
    const std::uint32_t slot = static_cast<std::uint32_t>(session.cqs.size());
    Cq& cq = session.cqs[slot];
    const ipc::CqLayout layout = ipc::cq_layout(request.cqe);
    cq.region = ipc::make_region("fake-cq", layout.bytes);
    cq.head = reinterpret_cast<ipc::CqHead*>(cq.region.mapping.data());
    cq.ring = ipc::Producer(&cq.head->ring, ipc::RingSlots(cq.head, layout.ring));
    cq.epoch = next_id_++;
    cq.channel = request.channel;
    auto reply = ipc::make_reply<rocem_abi_create_cq_reply>(request.header);
    reply.cq_slot = slot;
    reply.cq_epoch = cq.epoch;
    reply.cqe = request.cqe;
    reply.segment = whole(next_id_++, cq.region);
    answer(session.socket.get(), reply, std::array{cq.region.fd.get()});
}

void FakeDaemon::create_qp(Session& session, const rocem_abi_create_qp_request& request) {
    const std::uint32_t slot = static_cast<std::uint32_t>(session.qps.size());
    Qp& qp = session.qps[slot];
    const ipc::QpLayout layout = ipc::qp_layout(request.caps);
    qp.region = ipc::make_region("fake-qp", layout.bytes);
    auto* head = reinterpret_cast<ipc::QpHead*>(qp.region.mapping.data());
    if (layout.send.slots != 0)
        qp.send = ipc::UntrustedConsumer(&head->send, ipc::RingSlots(head, layout.send));
    if (layout.recv.slots != 0)
        qp.recv = ipc::UntrustedConsumer(&head->recv, ipc::RingSlots(head, layout.recv));
    qp.epoch = next_id_++;
    qp.caps = request.caps;
    auto reply = ipc::make_reply<rocem_abi_create_qp_reply>(request.header);
    reply.qp_slot = slot;
    reply.qp_epoch = qp.epoch;
    reply.qpn = 0x100 + slot;
    reply.caps = request.caps;
    reply.segment = whole(next_id_++, qp.region);
    answer(session.socket.get(), reply, std::array{qp.region.fd.get()});
}

void FakeDaemon::modify_qp(Session& session, const rocem_abi_modify_qp_request& request) {
    last_modify_ = request;
    Qp& qp = session.qps.at(request.qp_slot);
    if ((request.mask & 1) != 0 && request.attributes.state == 0) {
        qp.send.take(qp.send.within(request.send_producer).value());
        qp.recv.take(qp.recv.within(request.recv_producer).value());
        qp.epoch = next_id_++;
    }
    auto reply = ipc::make_reply<rocem_abi_modify_qp_reply>(request.header);
    reply.qp_epoch = qp.epoch;
    reply.state = request.attributes.state;
    answer(session.socket.get(), reply);
}

void FakeDaemon::set_hook(Hook hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
}

std::vector<TakenSend> FakeDaemon::take_sends(std::uint32_t qp_slot) {
    const std::lock_guard lock(mutex_);
    ipc::UntrustedConsumer& ring = last().qps.at(qp_slot).send;
    std::vector<TakenSend> taken;
    for (std::uint32_t left = ring.available().value(); left > 0; --left) {
        TakenSend send;
        send.index = ring.head();
        ring.copy_next(&send.wqe, sizeof(send.wqe));
        send.sges.resize(send.wqe.num_sge);
        ring.copy_next(send.sges.data(), send.sges.size() * sizeof(ipc::Sge), sizeof(send.wqe));
        std::string bytes((send.wqe.inline_length + 7) / 8 * 8, '\0');
        ring.copy_next(bytes.data(), bytes.size(), sizeof(send.wqe));
        send.inline_bytes = bytes.substr(0, send.wqe.inline_length);
        ring.take(1);
        taken.push_back(std::move(send));
    }
    return taken;
}

std::vector<TakenRecv> FakeDaemon::take_recvs(std::uint32_t qp_slot) {
    const std::lock_guard lock(mutex_);
    ipc::UntrustedConsumer& ring = last().qps.at(qp_slot).recv;
    std::vector<TakenRecv> taken;
    for (std::uint32_t left = ring.available().value(); left > 0; --left) {
        TakenRecv recv;
        recv.index = ring.head();
        ring.copy_next(&recv.wqe, sizeof(recv.wqe));
        recv.sges.resize(recv.wqe.num_sge);
        ring.copy_next(recv.sges.data(), recv.sges.size() * sizeof(ipc::Sge), sizeof(recv.wqe));
        ring.take(1);
        taken.push_back(std::move(recv));
    }
    return taken;
}

ipc::Cqe FakeDaemon::completion(std::uint32_t qp_slot, std::uint32_t wqe_index, std::uint8_t opcode,
                                std::uint8_t status) {
    const std::lock_guard lock(mutex_);
    ipc::Cqe cqe{};
    cqe.wr_id = 1000 + wqe_index;
    cqe.qp_slot = qp_slot;
    cqe.qp_epoch = last().qps.at(qp_slot).epoch;
    cqe.wqe_index = wqe_index;
    cqe.qpn = 0x100 + qp_slot;
    cqe.opcode = opcode;
    cqe.status = status;
    return cqe;
}

bool FakeDaemon::complete(std::uint32_t cq_slot, const ipc::Cqe& cqe, bool solicited) {
    const std::lock_guard lock(mutex_);
    Cq& cq = last().cqs.at(cq_slot);
    if (cq.ring.outstanding().value() == cq.ring.capacity()) return false;
    std::memcpy(cq.ring.slot(cq.ring.tail()), &cqe, sizeof(cqe));
    cq.ring.publish(1, std::memory_order_seq_cst);
    if (ipc::take_arm(*cq.head, solicited)) publish_event(last(), cq_slot);
    return true;
}

void FakeDaemon::publish_event(Session& session, std::uint32_t cq_slot) {
    const Cq& cq = session.cqs.at(cq_slot);
    ipc::send_cq_event(session.channels.at(cq.channel).get(), session.shared().missed_events,
                       {cq_slot, cq.epoch});
}

void FakeDaemon::send_cq_event(std::uint32_t cq_slot) {
    const std::lock_guard lock(mutex_);
    publish_event(last(), cq_slot);
}

void FakeDaemon::send_async(std::uint32_t type, std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    rocem_abi_async_event event{type, slot, 0, 0};
    if (type == 0) event.epoch = last().cqs.at(slot).epoch;
    if (type >= 1 && type <= 5) event.epoch = last().qps.at(slot).epoch;
    ipc::send_event(last().events.get(), &event, sizeof(event));
}

void FakeDaemon::set_sleeping(bool sleeping) {
    auto& page = *reinterpret_cast<ipc::WorkerPage*>(worker_page_.mapping.data());
    if (sleeping) {
        ipc::announce_sleep(page);
    } else {
        ipc::announce_awake(page);
    }
}

std::uint64_t FakeDaemon::doorbell_rings() {
    const std::lock_guard lock(mutex_);
    std::uint64_t rings = 0;
    return ::read(last().doorbell.get(), &rings, sizeof(rings)) == sizeof(rings) ? rings : 0;
}

bool FakeDaemon::is_marked(bool send, std::uint32_t qp_slot) {
    const std::lock_guard lock(mutex_);
    bool found = false;
    ipc::take_marked(send ? last().shared().send_dirty : last().shared().recv_dirty,
                     [&](std::uint32_t slot) { found |= slot == qp_slot; });
    return found;
}

ipc::CqHead& FakeDaemon::cq_head(std::uint32_t cq_slot) {
    const std::lock_guard lock(mutex_);
    return *last().cqs.at(cq_slot).head;
}

rocem_abi_modify_qp_request FakeDaemon::last_modify() {
    const std::lock_guard lock(mutex_);
    return last_modify_;
}

std::size_t FakeDaemon::sessions() {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

}  // namespace rocem::test
