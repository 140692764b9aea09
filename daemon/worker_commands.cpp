#include "daemon/worker_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace rocem::daemon {
namespace {

constexpr int commands_per_turn = 8;

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

bool WorkerCommands::run(engine::Time now) {
    bool worked = false;
    if (!link_.commands.empty()) {
        link_.command_waker.clear();
        for (int i = 0; i < commands_per_turn; ++i) {
            auto command = link_.commands.try_pop();
            if (!command) break;
            worked = true;
            carry_out(now, *command);
        }
    }
    worked = finish_resolved(now) || worked;
    worked = end_violators() || worked;
    worked = finish_retired() || worked;
    return worked;
}

void WorkerCommands::carry_out(engine::Time now, WorkerCommand& command) {
    if (const auto* resources = std::get_if<OpenSession>(&command.command)) return open(command, *resources);
    if (std::holds_alternative<ListQps>(command.command)) return list_qps(command);
    const Place place = find(command.session);
    if (std::holds_alternative<CloseSession>(command.command)) return close(command);
    if (place.session == nullptr || place.session->violation()) {
        return answer(command.session, command.request_id,
                      Refusal{.error = EIO, .text = "session: it was ended because of a violation"});
    }
    ClientSession& session = *place.session;
    const std::uint32_t id = command.request_id;
    std::optional<Answer> result = std::visit(
        Overloaded{[&](const AllocPd&) -> std::optional<Answer> { return session.alloc_pd(); },
                   [&](const DeallocPd& c) -> std::optional<Answer> { return session.dealloc_pd(c); },
                   [&](const RegisterMr& c) -> std::optional<Answer> { return session.register_mr(c); },
                   [&](const DeregisterMr& c) { return session.deregister_mr(c, id); },
                   [&](const CreateCq& c) -> std::optional<Answer> { return session.create_cq(c); },
                   [&](const DestroyCq& c) -> std::optional<Answer> { return session.destroy_cq(c); },
                   [&](const CreateQp& c) -> std::optional<Answer> { return session.create_qp(c); },
                   [&](const ModifyQp& c) -> std::optional<Answer> {
                       WaitingModify waiting;
                       waiting.session = command.session;
                       waiting.request_id = id;
                       waiting.command = c;
                       start_modify(now, waiting);
                       return std::nullopt;
                   },
                   [&](const QueryQp& c) -> std::optional<Answer> { return session.query_qp(c); },
                   [&](const DestroyQp& c) { return session.destroy_qp(c, id); },
                   [&](const auto&) -> std::optional<Answer> { return std::nullopt; }},
        command.command);
    if (result) answer(command.session, id, std::move(*result));
}

void WorkerCommands::open(const WorkerCommand& command, const OpenSession& resources) {
    const auto nic = std::find_if(nics_.begin(), nics_.end(), [&](const EmulatedNic* candidate) {
        return candidate->index() == resources.nic;
    });
    assert(nic != nics_.end());  // the control thread sends a session to the worker of its NIC
    const bool doorbell = sleeper_.add(resources.doorbell);
    if (!doorbell || !sleeper_.add_writable(resources.event_socket)) {
        if (doorbell) sleeper_.remove(resources.doorbell);
        return answer(command.session, command.request_id,
                      Refusal{.error = ENOMEM, .text = "open_nic: the kernel watches no further doorbell"});
    }
    (*nic)->open_session(command.session, resources);
    answer(command.session, command.request_id, Done{});
}

void WorkerCommands::list_qps(const WorkerCommand& command) {
    QpList list;
    for (EmulatedNic* nic : nics_) {
        for (const auto& session : nic->sessions())
            session->list_qps(nic->index(), list.qps);
    }
    answer(command.session, command.request_id, std::move(list));
}

void WorkerCommands::close(const WorkerCommand& command) {
    std::erase_if(waiting_, [&](const WaitingModify& modify) {
        if (modify.session != command.session) return false;
        answer(modify.session, modify.request_id, Refusal{.error = EIO, .text = "session: it ends"});
        return true;
    });
    if (ClientSession* session = find(command.session).session) {
        session->close();
        closing_.push_back({.session = command.session, .request_id = command.request_id});
        return;
    }
    answer(command.session, command.request_id, SessionClosed{});
}

// --- next hops (decision 11) ---

void WorkerCommands::start_modify(engine::Time now, WaitingModify waiting) {
    if ((waiting.command.mask & engine::attr_av) == 0) return modify(now, waiting);
    EmulatedNic& nic = *find(waiting.session).nic;
    waiting.nic = &nic;
    waiting.resolve_id = nic.neighbours().post_resolve(now, waiting.command.attributes.av.dgid);
    waiting_.push_back(std::move(waiting));
}

bool WorkerCommands::finish_resolved(engine::Time now) {
    bool any = false;
    for (EmulatedNic* nic : nics_) {
        Resolution resolution;
        while (nic->neighbours().poll_resolved(resolution)) {
            const auto found =
                std::find_if(waiting_.begin(), waiting_.end(), [&](const WaitingModify& waiting) {
                    return waiting.nic == nic && waiting.resolve_id == resolution.id;
                });
            if (found == waiting_.end()) continue;  // its session has ended
            WaitingModify waiting = std::move(*found);
            waiting_.erase(found);
            any = true;
            const std::string dgid = waiting.command.attributes.av.dgid.to_string();
            switch (resolution.error) {
                case ResolveError::none:
                    waiting.command.attributes.av.dmac = resolution.mac;
                    modify(now, waiting);
                    break;
                case ResolveError::host_unreachable:
                    answer(waiting.session, waiting.request_id,
                           Refusal{.error = EHOSTUNREACH,
                                   .text = fmt::format("ah_attr.grh.dgid: no route to {}", dgid)});
                    break;
                case ResolveError::timed_out:
                    answer(waiting.session, waiting.request_id,
                           Refusal{.error = ETIMEDOUT,
                                   .text = fmt::format(
                                       "ah_attr.grh.dgid: nobody answers for {} (ARP or neighbour "
                                       "discovery)",
                                       dgid)});
                    break;
            }
        }
    }
    return any;
}

void WorkerCommands::modify(engine::Time now, const WaitingModify& waiting) {
    const Place place = find(waiting.session);
    // A RESET gives the QP a new epoch: its completions so far belong to the old one.
    place.nic->deliver_completions(now);
    answer(waiting.session, waiting.request_id, place.session->modify_qp(now, waiting.command));
}

// --- ends ---

bool WorkerCommands::end_violators() {
    bool any = false;
    for (EmulatedNic* nic : nics_) {
        for (const auto& session : nic->sessions()) {
            if (!session->violation() || session->closing()) continue;
            any = true;
            session->close();
            answer(session->id(), 0, SessionViolated{.text = *session->violation()});
        }
    }
    return any;
}

bool WorkerCommands::finish_retired() {
    for (EmulatedNic* nic : nics_) {
        for (const auto& session : nic->sessions()) {
            if (session->has_retiring()) session->poll_retired(retired_answers_);
        }
    }
    bool any = !retired_answers_.empty();
    for (WorkerAnswer& retired : retired_answers_) {
        answer(retired.session, retired.request_id, std::move(retired.answer));
    }
    retired_answers_.clear();
    std::erase_if(closing_, [&](const Closing& closing) {
        const Place place = find(closing.session);
        if (!place.session->closed()) return false;
        sleeper_.remove(place.session->doorbell());
        sleeper_.remove(place.session->event_socket());
        place.nic->remove_session(*place.session);
        answer(closing.session, closing.request_id, SessionClosed{});
        any = true;
        return true;
    });
    return any;
}

void WorkerCommands::close_all() {
    for (EmulatedNic* nic : nics_) {
        for (const auto& session : nic->sessions())
            session->close();
    }
}

bool WorkerCommands::must_poll() const {
    return std::any_of(nics_.begin(), nics_.end(), [](const EmulatedNic* nic) {
        return std::any_of(nic->sessions().begin(), nic->sessions().end(),
                           [](const auto& session) { return session->has_retiring(); });
    });
}

void WorkerCommands::answer(SessionId session, std::uint32_t request_id, Answer&& answer) {
    WorkerAnswer message{.session = session, .request_id = request_id, .answer = std::move(answer)};
    [[maybe_unused]] const bool pushed = link_.answers.try_push(std::move(message));
    assert(pushed);  // see WorkerLink's sizes
    link_.answer_waker.notify();
}

WorkerCommands::Place WorkerCommands::find(SessionId session) const {
    for (EmulatedNic* nic : nics_) {
        for (const auto& candidate : nic->sessions()) {
            if (candidate->id() == session) return {.nic = nic, .session = candidate.get()};
        }
    }
    return {};
}

}  // namespace rocem::daemon
