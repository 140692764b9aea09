#include "tools/rocem-replay/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "protocol/encode.hpp"
#include "protocol/icrc.hpp"
#include "protocol/syndrome.hpp"
#include "queue_engine/engine.hpp"
#include "queue_engine/responder_checks.hpp"
#include "tools/rocem-replay/replay_memory.hpp"

namespace rocem::tools {
namespace {

using protocol::DropReason;
using protocol::Operation;
using protocol::Psn;
using protocol::RocePacket;
using protocol::Syndrome;

// An answer that no peer gave may be the tool's own fault, or a READ of 2 GiB in a damaged capture: either
// way there is an end.
constexpr std::size_t spare_answers = 4096;
constexpr std::uint64_t receive_va = std::uint64_t{1} << 46;
constexpr std::uint64_t receive_bytes_max = std::uint64_t{1} << 31;

// What the capture or the side file asks for is nothing that the engine can be.
class CannotStandIn : public std::runtime_error {
 public:
    CannotStandIn(const char* command, engine::Error error)
        : std::runtime_error(fmt::format("the engine cannot stand in for this responder: {} says errno {}",
                                         command, static_cast<int>(error))) {}
};

template <class T>
T must(const char* command, engine::Expected<T> value) {
    if (!value) throw CannotStandIn(command, value.error());
    return *value;
}

void must(const char* command, engine::Error error) {
    if (error != engine::Error::none) throw CannotStandIn(command, error);
}

engine::EngineSettings engine_settings(const Capture& capture, const Connection& connection,
                                       const ResponderSetup& setup) {
    engine::EngineSettings settings;
    settings.limits.max_qp = 4;
    settings.limits.max_cq = 4;
    settings.limits.max_pd = 4;
    settings.limits.max_mr = static_cast<std::uint32_t>(setup.regions.size()) + 4;
    settings.limits.max_mr_size = ~std::uint64_t{0};
    settings.mac = capture[connection.requests.front()].packet.ethernet.destination;
    settings.gid_table = {connection.responder};
    settings.pkey_table = {setup.p_key};
    settings.active_mtu = setup.mtu;
    settings.mig_req = false;
    return settings;
}

// Who answers the requests: an engine with one QP, and its memory.
class Responder {
 public:
    Responder(const Capture& capture, const Connection& connection, const ResponderSetup& setup)
        : settings_(engine_settings(capture, connection, setup)),
          engine_(std::make_unique<engine::Engine>(settings_, engine::Seed{})),
          memory_(setup.regions) {
        const engine::PdHandle pd = must("create_pd", engine_->create_pd());
        register_memory(pd, setup);
        create_qp(pd, connection, setup);
        connect(capture, connection, setup);
    }

    const engine::EngineSettings& settings() const { return settings_; }
    ReplayMemory& memory() { return memory_; }

    engine::PacketResult handle(engine::Time now, const protocol::Packet& packet, std::size_t token,
                                engine::MissingReceive missing) {
        return engine_->handle_packet(now, packet, token, missing);
    }

    void post_receive(std::uint32_t length) {
        const engine::Sge sge{receive_va, length, receive_key_};
        engine::RecvWr wr;
        wr.sges = {&sge, 1};
        must("post_recv", engine_->post_recv(qp_.handle, wr));
    }

    // Runs the engine until it has nothing left to do, or has sent enough. What it sends goes to sink(bytes).
    template <class Sink, class Enough>
    void run(engine::Time now, Sink sink, Enough enough) {
        bool busy = true;
        while (busy && !enough()) {
            if (engine_->next_deadline() <= now) engine_->handle_timeout(now);
            busy = move_bytes(now);
            busy |= build_frame(now);
            busy |= move_bytes(now);
            busy |= send_frames(now, sink);
            forget_completions();
        }
    }

 private:
    void register_memory(engine::PdHandle pd, const ResponderSetup& setup) {
        for (std::size_t i = 0; i < setup.regions.size(); ++i) {
            const RegionFact& region = setup.regions[i];
            engine::MrSpec spec{region.va, region.length, region.access, region_number(i), region.r_key};
            must("register_mr", engine_->register_mr(pd, spec));
        }
        const engine::MrSpec receives{receive_va, receive_bytes_max, engine::access_local_write,
                                      receive_region, std::nullopt};
        receive_key_ = must("register_mr", engine_->register_mr(pd, receives)).l_key;
    }

    void create_qp(engine::PdHandle pd, const Connection& connection, const ResponderSetup& setup) {
        constexpr std::uint32_t cq_capacity = 4096;
        constexpr std::uint32_t receives_max = 64;  // posted one at a time
        engine::QpInit init;
        init.pd = pd;
        init.send_cq = init.recv_cq = must("create_cq", engine_->create_cq(cq_capacity));
        init.cap.max_recv_wr = receives_max;
        init.requested_qpn = connection.responder_qpn;
        qp_ = must("create_qp", engine_->create_qp(init));
        engine::QpAttributes attributes;
        attributes.state = engine::QpState::init;
        attributes.access_flags = setup.access;
        must("modify_qp", engine_->modify_qp(engine::Time{}, qp_.handle, attributes,
                                             engine::attr_state | engine::attr_pkey_index |
                                                 engine::attr_port | engine::attr_access_flags));
    }

    void connect(const Capture& capture, const Connection& connection, const ResponderSetup& setup) {
        engine::QpAttributes attributes;
        attributes.state = engine::QpState::rtr;
        attributes.av.dgid = connection.requester;
        attributes.av.dmac = capture[connection.requests.front()].packet.ethernet.source;
        attributes.path_mtu = setup.mtu;
        attributes.dest_qpn = connection.requester_qpn.value_or(protocol::Qpn(0));
        attributes.rq_psn = setup.expected_psn;
        attributes.max_dest_rd_atomic = setup.max_dest_rd_atomic;
        attributes.min_rnr_timer = setup.min_rnr_timer;
        must("modify_qp",
             engine_->modify_qp(engine::Time{}, qp_.handle, attributes,
                                engine::attr_state | engine::attr_av | engine::attr_path_mtu |
                                    engine::attr_dest_qpn | engine::attr_rq_psn |
                                    engine::attr_max_dest_rd_atomic | engine::attr_min_rnr_timer));
    }

    bool move_bytes(engine::Time now) {
        bool any = false;
        engine::DmaOp op;
        while (engine_->poll_dma(op)) {
            const engine::DmaAnswer answer = memory_.execute(op);
            engine_->handle_dma(now, {&answer, 1});
            any = true;
        }
        return any;
    }

    bool build_frame(engine::Time now) {
        Building building;
        building.bytes.resize(protocol::frame_bytes_max(settings_.active_mtu.bytes()));
        const auto frame = engine_->poll_transmit(now, building.bytes);
        if (!frame) return false;
        building.frame = *frame;
        building_[frame->id] = std::move(building);
        return true;
    }

    template <class Sink>
    bool send_frames(engine::Time now, Sink& sink) {
        bool any = false;
        engine::FrameVerdict verdict;
        while (engine_->poll_frame(now, verdict)) {
            any = true;
            auto node = building_.extract(verdict.id);
            if (verdict.action != engine::FrameAction::send) continue;
            Building& building = node.mapped();
            building.bytes.resize(building.frame.length);
            protocol::seal_icrc(building.bytes, building.frame.l3_offset);
            sink(std::move(building.bytes));
        }
        return any;
    }

    void forget_completions() {
        engine::WorkCompletion completion;
        while (engine_->poll_completion(completion)) {
        }
        engine::AsyncEvent event;
        while (engine_->poll_event(event)) {
        }
        engine::WantedWork wanted;
        while (engine_->poll_wanted(wanted)) {
        }
    }

    struct Building {
        engine::TxFrame frame;
        std::vector<std::byte> bytes;
    };

    engine::EngineSettings settings_;
    std::unique_ptr<engine::Engine> engine_;
    ReplayMemory memory_;
    engine::QpInfo qp_;
    protocol::LKey receive_key_;
    std::map<engine::TxFrameId, Building> building_;
};

// Receives as the side file lists them, or as the peer must have had them.
class Receives {
 public:
    Receives(const Capture& capture, const Connection& connection, const ResponderSetup& setup)
        : capture_(capture), connection_(connection), listed_(setup.receives) {
        for (const std::size_t at : connection.answers) {
            const RocePacket& roce = capture[at].packet.roce;
            const bool rnr_nak = roce.info->operation == Operation::acknowledge &&
                                 Syndrome(roce.aeth.syndrome).kind() == Syndrome::Kind::rnr_nak;
            if (rnr_nak) rnr_naks_[roce.bth.psn.value()].push_back(at);
        }
    }

    // The length of the receive that this request finds, or nothing if it finds none.
    std::optional<std::uint32_t> take(std::size_t request) {
        if (!listed_) {
            if (was_not_ready(request)) return std::nullopt;
            return static_cast<std::uint32_t>(receive_bytes_max);
        }
        for (ReceiveFact& receive : *listed_) {
            if (receive.count == 0 || receive.before_frame > capture_[request].number) continue;
            --receive.count;
            return receive.length;
        }
        return std::nullopt;
    }

 private:
    // Of the copies of a request the first n got the n RNR NAKs that the peer gave for its PSN. A single one
    // with no second try proves nothing.
    bool was_not_ready(std::size_t request) const {
        const Psn psn = capture_[request].packet.roce.bth.psn;
        const auto naks = rnr_naks_.find(psn.value());
        if (naks == rnr_naks_.end() || naks->second.back() < request) return false;
        std::size_t copies = 0;
        std::size_t copies_before = 0;
        for (const std::size_t at : connection_.requests) {
            if (capture_[at].packet.roce.bth.psn != psn) continue;
            ++copies;
            if (at < request) ++copies_before;
        }
        return copies > 1 && copies_before < naks->second.size();
    }

    const Capture& capture_;
    const Connection& connection_;
    std::optional<std::vector<ReceiveFact>> listed_;
    std::map<std::uint32_t, std::vector<std::size_t>> rnr_naks_;  // of the peer, by PSN
};

class Player {
 public:
    Player(const Capture& capture, const Connection& connection, const ResponderSetup& setup)
        : capture_(capture),
          connection_(connection),
          setup_(setup),
          responder_(capture, connection, setup),
          receives_(capture, connection, setup),
          answers_max_(4 * connection.answers.size() + connection.requests.size() + spare_answers) {}

    Play run() {
        for (const std::size_t at : connection_.requests) {
            if (play_.stop) break;
            if (setup_.not_received.count(capture_[at].number) != 0) continue;
            play_request(at);
        }
        return std::move(play_);
    }

 private:
    void play_request(std::size_t at) {
        const ReplayFrame& frame = capture_[at];
        if (frame.cut()) {
            play_.stop = PlayStop{at, fmt::format("frame {} is cut off by the capture", frame.number)};
            return;
        }
        const protocol::ReceiveContext context{
            responder_.settings().mac, responder_.settings().gid_table, {}, false};
        if (!protocol::accept(frame.packet, context).accepted) {
            ++play_.refused;
            return;
        }
        ++play_.requests;
        protocol::Packet packet = frame.packet;
        if (setup_.acks == AckHabit::every_packet) packet.roce.bth.ack_request = true;
        show_memory(at);
        const engine::Time now{frame.since_start};
        const engine::PacketResult result = hand_in(now, packet, at);
        if (result.outcome == engine::PacketOutcome::dropped &&
            result.reason == DropReason::unsupported_operation) {
            play_.stop = PlayStop{at, fmt::format("{} (frame {}) is not offered by the engine yet",
                                                  packet.roce.info->name, frame.number)};
            return;
        }
        const auto too_many = [this] { return play_.answers.size() > answers_max_; };
        responder_.run(
            now, [&](std::vector<std::byte> bytes) { keep(std::move(bytes), at); }, too_many);
        if (too_many())
            play_.stop =
                PlayStop{at, fmt::format("frame {} asks for far more than was answered", frame.number)};
    }

    engine::PacketResult hand_in(engine::Time now, const protocol::Packet& packet, std::size_t at) {
        const auto result = responder_.handle(now, packet, at, engine::MissingReceive::ask);
        if (result.outcome != engine::PacketOutcome::needs_receive) return result;
        if (const auto length = receives_.take(at)) responder_.post_receive(*length);
        return responder_.handle(now, packet, at, engine::MissingReceive::rnr_nak);
    }

    // What the peer's answer to this READ or atomic says about its memory.
    void show_memory(std::size_t at) {
        const RocePacket& request = capture_[at].packet.roce;
        const bool read = request.info->operation == Operation::rdma_read_request;
        if (!read && !request.info->has_atomic_eth) return;
        const std::uint32_t count = engine::psns_of_request(request, setup_.mtu.bytes());
        std::set<std::uint32_t> shown;
        // Far behind the request no first answer to it is to be expected.
        std::uint64_t looks = std::uint64_t{count} * 4 + spare_answers;
        const auto later = std::upper_bound(connection_.answers.begin(), connection_.answers.end(), at);
        for (auto answer = later; answer != connection_.answers.end() && looks-- > 0; ++answer) {
            if (shown.size() == count) return;
            const ReplayFrame& frame = capture_[*answer];
            const RocePacket& roce = frame.packet.roce;
            const std::int32_t offset = Psn::distance(request.bth.psn, roce.bth.psn);
            if (frame.cut() || offset < 0 || static_cast<std::uint64_t>(offset) >= count) continue;
            const auto index = static_cast<std::uint32_t>(offset);
            if (shown.count(index) != 0) continue;
            if (read && roce.info->operation == Operation::rdma_read_response) {
                const std::uint64_t va = request.reth.va + std::uint64_t{index} * setup_.mtu.bytes();
                responder_.memory().seed(request.reth.r_key, va, roce.payload);
            } else if (!read && roce.info->operation == Operation::atomic_acknowledge) {
                const std::uint64_t original = roce.atomic_ack_eth.original;
                responder_.memory().seed(request.atomic_eth.r_key, request.atomic_eth.va,
                                         std::as_bytes(std::span(&original, 1)));
            } else {
                continue;
            }
            shown.insert(index);
        }
    }

    void keep(std::vector<std::byte> bytes, std::size_t at) {
        OurAnswer answer;
        answer.bytes = std::move(bytes);
        answer.caused_by = at;
        const auto parsed = protocol::parse_frame(answer.bytes);
        if (!parsed) throw std::logic_error("the engine built a frame that cannot be parsed");
        answer.packet = *parsed;
        play_.answers.push_back(std::move(answer));
    }

    const Capture& capture_;
    const Connection& connection_;
    const ResponderSetup& setup_;
    Responder responder_;
    Receives receives_;
    std::size_t answers_max_;
    Play play_;
};

}  // namespace

Play play(const Capture& capture, const Connection& connection, const ResponderSetup& setup) {
    try {
        return Player(capture, connection, setup).run();
    } catch (const CannotStandIn& error) {
        Play nothing;
        nothing.stop = PlayStop{connection.requests.front(), error.what()};
        return nothing;
    }
}

}  // namespace rocem::tools
