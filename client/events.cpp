// Completion channels and asynchronous events.
#include <cerrno>
#include <memory>
#include <new>

#include "client/error.hpp"
#include "client/fork.hpp"
#include "client/objects.hpp"
#include "client/raw_enum.hpp"
#include "ipc/dirty_bitmap.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::client {
namespace {

// Under events_mutex: hands the events that found a socket full to their channels. Until they are told, that
// socket is not read, so it stays readable.
void collect_missed(Context& context) {
    ipc::Bitmap& missed = context.session().missed_events;
    if (!ipc::any_marked(missed)) return;
    ipc::take_marked(missed, [&context](std::uint32_t slot) {
        const auto cq = context.cqs.find(slot);
        if (cq == context.cqs.end() || cq->second->channel == nullptr) return;
        static_cast<Channel*>(cq->second->channel)->missed.push_back(slot);
    });
}

// Under events_mutex.
Cq* tell(Context& context, std::uint32_t slot) {
    const auto place = context.cqs.find(slot);
    if (place == context.cqs.end()) return nullptr;
    ++place->second->completion_events.told;
    return place->second;
}

Cq* next_missed(Context& context, Channel& channel) {
    const std::lock_guard lock(context.events_mutex);
    collect_missed(context);
    while (!channel.missed.empty()) {
        const std::uint32_t slot = channel.missed.front();
        channel.missed.pop_front();
        if (Cq* cq = tell(context, slot)) return cq;
    }
    return nullptr;
}

// The CQ of an event; null if it was destroyed since, or the event only says that there are missed ones.
Cq* cq_of_event(Context& context, const rocem_abi_cq_event& event) {
    const std::lock_guard lock(context.events_mutex);
    const auto place = context.cqs.find(event.cq_slot);
    if (place == context.cqs.end() || place->second->epoch != event.cq_epoch) return nullptr;
    return tell(context, event.cq_slot);
}

// Words and number for what was received instead of an event.
int no_event(Context& context, const char* call, ipc::Received received) {
    switch (received) {
        case ipc::Received::nothing:
            return fail(EAGAIN, "%s: no event", call);
        case ipc::Received::interrupted:
            return fail(EINTR, "%s: a signal came", call);
        default:
            context.connection.mark_gone();
            return fail(EIO, "%s: the daemon is gone", call);
    }
}

// DEVICE_FATAL, once.
int tell_fatal(Context& context, const char* call, rocem_async_event& event) {
    context.connection.mark_gone();
    const std::lock_guard lock(context.events_mutex);
    if (context.fatal_told) return fail(EIO, "%s: the daemon is gone", call);
    context.fatal_told = true;
    event = {};
    event.event_type = ROCEM_EVENT_DEVICE_FATAL;
    return 0;
}

bool is_qp_event(std::uint32_t type) {
    return type == ROCEM_EVENT_QP_FATAL || type == ROCEM_EVENT_QP_REQ_ERR ||
           type == ROCEM_EVENT_QP_ACCESS_ERR || type == ROCEM_EVENT_COMM_EST ||
           type == ROCEM_EVENT_SQ_DRAINED;
}

// False: the object was destroyed since (or, for a QP, has been through RESET).
bool tell_async(Context& context, const rocem_abi_async_event& from, rocem_async_event& event) {
    const std::lock_guard lock(context.events_mutex);
    event = {};
    set_raw_value(event.event_type, from.type);
    if (is_qp_event(from.type)) {
        const auto qp = context.qps.find(from.slot);
        if (qp == context.qps.end()) return false;
        if ((*context.qp_table)[from.slot].epoch.load(std::memory_order_relaxed) != from.epoch) return false;
        ++qp->second->async_events.told;
        event.element.qp = qp->second;
    } else if (from.type == ROCEM_EVENT_CQ_ERR) {
        const auto cq = context.cqs.find(from.slot);
        if (cq == context.cqs.end() || cq->second->epoch != from.epoch) return false;
        ++cq->second->async_events.told;
        event.element.cq = cq->second;
    } else {
        event.element.port_num = 1;
    }
    return true;
}

void acknowledge(Context& context, EventCount& events, std::uint32_t count) {
    const std::lock_guard lock(context.events_mutex);
    events.acknowledged += count;
    context.acknowledged.notify_all();
}

}  // namespace
}  // namespace rocem::client

using rocem::client::Channel;
using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::Cq;
using rocem::client::cq_of;
using rocem::client::fail;
using rocem::client::fail_null;
using rocem::client::pass_null;
using rocem::client::qp_of;
namespace ipc = rocem::ipc;

rocem_comp_channel* rocem_create_comp_channel(rocem_context* context) {
    constexpr const char* call = "rocem_create_comp_channel";
    Context& owner = context_of(context);
    std::unique_ptr<Channel> channel(new (std::nothrow) Channel());
    if (!channel) return fail_null(ENOMEM, "%s: no memory", call);
    rocem_abi_bare request{};
    rocem_abi_create_channel_reply reply{};
    rocem::client::Fds fds;
    const int error = owner.connection.ask(call, ipc::MessageType::create_channel, request, reply, fds);
    if (error != 0) return pass_null(error);
    channel->context = context;
    channel->id = reply.channel;
    channel->socket = std::move(fds[0]);
    channel->fd = channel->socket.get();
    rocem::client::watch_forks(*channel);
    ++owner.users;
    return channel.release();
}

int rocem_destroy_comp_channel(rocem_comp_channel* channel) {
    constexpr const char* call = "rocem_destroy_comp_channel";
    Context& owner = context_of(channel->context);
    if (owner.connection.forked()) return owner.connection.status(call);
    Channel& self = *static_cast<Channel*>(channel);
    if (self.users != 0) return fail(EBUSY, "%s: %u CQs still use the channel", call, self.users.load());
    const int error = rocem::client::destroy_object(owner, call, ipc::MessageType::destroy_channel, self.id);
    if (error != 0) return error;
    rocem::client::unwatch_forks(self);
    --owner.users;
    delete &self;
    return 0;
}

int rocem_get_cq_event(rocem_comp_channel* channel, rocem_cq** cq, void** cq_context) {
    constexpr const char* call = "rocem_get_cq_event";
    Context& owner = context_of(channel->context);
    Channel& self = *static_cast<Channel*>(channel);
    if (owner.connection.forked()) return owner.connection.status(call);
    for (;;) {
        Cq* found = rocem::client::next_missed(owner, self);
        if (found == nullptr) {
            rocem_abi_cq_event event{};
            const ipc::Received received = ipc::receive_event(self.socket.get(), &event, sizeof(event));
            if (received != ipc::Received::event) return rocem::client::no_event(owner, call, received);
            found = rocem::client::cq_of_event(owner, event);
        }
        if (found != nullptr) {
            *cq = found;
            *cq_context = found->cq_context;
            return 0;
        }
    }
}

void rocem_ack_cq_events(rocem_cq* cq, uint32_t count) {
    Context& owner = context_of(cq->context);
    if (owner.connection.forked()) return;
    rocem::client::acknowledge(owner, cq_of(cq).completion_events, count);
}

int rocem_get_async_event(rocem_context* context, rocem_async_event* event) {
    constexpr const char* call = "rocem_get_async_event";
    Context& owner = context_of(context);
    if (owner.connection.forked()) return owner.connection.status(call);
    for (;;) {
        rocem_abi_async_event received_event{};
        const ipc::Received received =
            ipc::receive_event(owner.event_socket.get(), &received_event, sizeof(received_event));
        switch (received) {
            case ipc::Received::event:
                break;
            case ipc::Received::nothing:
            case ipc::Received::interrupted:
                return rocem::client::no_event(owner, call, received);
            case ipc::Received::closed:
            case ipc::Received::malformed:
                return rocem::client::tell_fatal(owner, call, *event);
        }
        if (received_event.type == ROCEM_EVENT_DEVICE_FATAL)
            return rocem::client::tell_fatal(owner, call, *event);
        if (rocem::client::tell_async(owner, received_event, *event)) return 0;
    }
}

void rocem_ack_async_event(const rocem_async_event* event) {
    if (rocem::client::is_qp_event(rocem::client::raw_value(event->event_type))) {
        Context& owner = context_of(event->element.qp->context);
        if (owner.connection.forked()) return;
        rocem::client::acknowledge(owner, qp_of(event->element.qp).async_events, 1);
    } else if (rocem::client::raw_value(event->event_type) == ROCEM_EVENT_CQ_ERR) {
        Context& owner = context_of(event->element.cq->context);
        if (owner.connection.forked()) return;
        rocem::client::acknowledge(owner, cq_of(event->element.cq).async_events, 1);
    }
}
