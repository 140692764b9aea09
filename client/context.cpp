// Opening and closing a NIC, and what can be asked about it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "client/error.hpp"
#include "client/fork.hpp"
#include "client/objects.hpp"
#include "client/raw_enum.hpp"

namespace rocem::client {
namespace {

// The order of open_nic's descriptors (abi.h).
enum NicFd : std::size_t { session_segment, worker_page, counters_page, doorbell, event_socket };

bool counters_are_inside(const ipc::CountersPage& page, std::uint64_t bytes) {
    const std::uint64_t values_end = page.values_offset + std::uint64_t{page.count} * sizeof(std::uint64_t);
    const std::uint64_t labels_end = page.labels_offset + std::uint64_t{page.count} * ROCEM_ABI_LABEL_BYTES;
    return page.magic == ROCEM_ABI_MAGIC && page.values_offset % 8 == 0 && values_end <= bytes &&
           labels_end <= bytes;
}

// 0 or an errno.
int map_pages(const char* call, Context& context, const rocem_abi_open_nic_reply& reply, Fds& fds) {
    context.session_mapping =
        ipc::map_sealed(fds[session_segment].get(), sizeof(ipc::SessionSegment), ipc::Access::read_write);
    if (context.session_mapping) {
        context.worker_mapping =
            ipc::map_sealed(fds[worker_page].get(), sizeof(ipc::WorkerPage), ipc::Access::read_only);
    }
    if (context.worker_mapping && reply.counters_page_bytes >= sizeof(ipc::CountersPage)) {
        context.counters_mapping =
            ipc::map_sealed(fds[counters_page].get(), reply.counters_page_bytes, ipc::Access::read_only);
    }
    if (!context.counters_mapping) {
        return fail(errno != 0 ? errno : EPROTO, "%s: cannot map the daemon's segments", call);
    }
    const auto& counters = *reinterpret_cast<ipc::CountersPage*>(context.counters_mapping.data());
    if (context.session().magic != ROCEM_ABI_MAGIC || context.worker().magic != ROCEM_ABI_MAGIC ||
        !counters_are_inside(counters, reply.counters_page_bytes)) {
        return fail(EPROTO, "%s: the daemon's segments are not of this ABI", call);
    }
    return 0;
}

int open_nic(const char* call, Context& context, const char* nic) {
    rocem_abi_open_nic_request request{};
    if (!ipc::set_text(request.name, nic == nullptr ? "" : nic)) {
        return fail(ENODEV, "%s: no NIC has a name as long as %s", call, nic);
    }
    rocem_abi_open_nic_reply reply{};
    Fds fds;
    if (const int error = context.connection.ask(call, ipc::MessageType::open_nic, request, reply, fds);
        error != 0) {
        return error;
    }
    errno = 0;
    if (const int error = map_pages(call, context, reply, fds); error != 0) return error;
    context.device = reply.device;
    context.doorbell = std::move(fds[doorbell]);
    context.event_socket = std::move(fds[event_socket]);
    context.async_fd = context.event_socket.get();
    return 0;
}

}  // namespace

int destroy_object(Context& context, const char* call, ipc::MessageType type, std::uint32_t object,
                   std::uint32_t epoch) {
    rocem_abi_object_request request{};
    request.object = object;
    request.epoch = epoch;
    rocem_abi_bare reply{};
    const int error = context.connection.ask(call, type, request, reply);
    return context.connection.gone() ? 0 : error;
}

}  // namespace rocem::client

using rocem::client::Connection;
using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::fail;
using rocem::client::fail_null;
using rocem::client::pass_null;
namespace ipc = rocem::ipc;

rocem_context* rocem_open(const char* socket_path, const char* nic) {
    constexpr const char* call = "rocem_open";
    std::unique_ptr<Context> context(new (std::nothrow) Context());
    if (context)
        context->qp_table.reset(new (std::nothrow)
                                    std::array<rocem::client::QpEntry, ROCEM_ABI_QUEUE_SLOTS_MAX>());
    if (!context || !context->qp_table) return fail_null(ENOMEM, "%s: no memory", call);
    int error = context->connection.open(call, socket_path);
    if (error == 0) error = rocem::client::open_nic(call, *context, nic);
    if (error != 0) return pass_null(error);
    rocem::client::watch_forks(*context);
    return context.release();
}

int rocem_close(rocem_context* context) {
    Context& self = context_of(context);
    if (self.connection.forked()) return self.connection.status("rocem_close");
    if (const std::uint32_t users = self.users.load(std::memory_order_acquire); users != 0) {
        return fail(EBUSY, "rocem_close: %u PDs, CQs, channels or pieces of memory still exist", users);
    }
    rocem::client::unwatch_forks(self);
    delete &self;
    return 0;
}

int rocem_query_device(rocem_context* context, rocem_device_attr* attr) {
    Context& self = context_of(context);
    if (const int error = self.connection.status("rocem_query_device"); error != 0) return error;
    const rocem_abi_device& device = self.device;
    *attr = {};
    ipc::set_text(attr->name, ipc::text_in(device.name));
    ipc::set_text(attr->version, ipc::text_in(device.version));
    attr->node_guid = device.node_guid;
    attr->sys_image_guid = device.sys_image_guid;
    attr->max_mr_size = device.max_mr_size;
    attr->max_msg_size = device.max_msg_size;
    attr->vendor_id = device.vendor_id;
    attr->vendor_part_id = device.vendor_part_id;
    attr->hw_ver = device.hardware_version;
    attr->max_qp = device.max_qp;
    attr->max_qp_wr = device.max_qp_wr;
    attr->max_sge = device.max_sge;
    attr->max_inline_data = device.max_inline_data;
    attr->max_cq = device.max_cq;
    attr->max_cqe = device.max_cqe;
    attr->max_mr = device.max_mr;
    attr->max_pd = device.max_pd;
    attr->max_qp_rd_atom = device.max_qp_rd_atom;
    attr->atomic_cap = device.atomic_cap;
    attr->num_comp_vectors = device.comp_vectors;
    attr->phys_port_cnt = device.port_count;
    return 0;
}

int rocem_query_port(rocem_context* context, uint8_t port_num, rocem_port_attr* attr) {
    rocem_abi_query_port_request request{};
    request.port_num = port_num;
    rocem_abi_query_port_reply reply{};
    const int error =
        context_of(context).connection.ask("rocem_query_port", ipc::MessageType::query_port, request, reply);
    if (error != 0) return error;
    *attr = {};
    rocem::client::set_raw_value(attr->state, reply.state);
    rocem::client::set_raw_value(attr->max_mtu, reply.max_mtu);
    rocem::client::set_raw_value(attr->active_mtu, reply.active_mtu);
    attr->gid_tbl_len = reply.gid_table_length;
    attr->pkey_tbl_len = reply.pkey_table_length;
    attr->max_msg_sz = reply.max_msg_size;
    attr->link_layer = reply.link_layer;
    attr->active_width = reply.active_width;
    attr->active_speed = reply.active_speed;
    attr->phys_state = reply.physical_state;
    return 0;
}

int rocem_query_gid(rocem_context* context, uint8_t port_num, uint32_t index, rocem_gid* gid) {
    rocem_abi_query_gid_request request{};
    request.port_num = port_num;
    request.index = index;
    rocem_abi_query_gid_reply reply{};
    const int error =
        context_of(context).connection.ask("rocem_query_gid", ipc::MessageType::query_gid, request, reply);
    if (error != 0) return error;
    std::memcpy(gid->raw, reply.gid, sizeof(gid->raw));
    return 0;
}

int rocem_query_counter(rocem_context* context, uint32_t index, const char** label, uint64_t* value) {
    Context& self = context_of(context);
    if (self.connection.forked()) return self.connection.status("rocem_query_counter");
    const std::byte* page = self.counters_mapping.data();
    // Checked when it was mapped, and nobody but the daemon can write it.
    const auto& head = *reinterpret_cast<const ipc::CountersPage*>(page);
    if (index >= head.count) return fail(ENOENT, "rocem_query_counter: there are %u counters", head.count);
    *label =
        reinterpret_cast<const char*>(page + head.labels_offset + std::size_t{index} * ROCEM_ABI_LABEL_BYTES);
    const auto* values = reinterpret_cast<const std::uint64_t*>(page + head.values_offset);
    *value = ipc::load_shared(values[index], std::memory_order_relaxed);
    return 0;
}

int rocem_list_nics(const char* socket_path, rocem_nic_info* nics, int entries) {
    constexpr const char* call = "rocem_list_nics";
    Connection connection;
    if (const int error = connection.open(call, socket_path); error != 0) return -error;
    const int count = connection.hello().nic_count;
    for (int i = 0; i < std::min(count, entries); ++i) {
        rocem_abi_list_nics_request request{};
        request.index = static_cast<std::uint32_t>(i);
        rocem_abi_list_nics_reply reply{};
        const int error = connection.ask(call, ipc::MessageType::list_nics, request, reply);
        if (error != 0) return -error;
        nics[i] = {};
        ipc::set_text(nics[i].name, ipc::text_in(reply.name));
        nics[i].node_guid = reply.node_guid;
    }
    return count;
}

char* rocem_ask_daemon(const char* socket_path, const char* question) {
    constexpr const char* call = "rocem_ask_daemon";
    const std::size_t length = std::strlen(question);
    rocem_abi_management_request request{};
    if (length > sizeof(request.text)) return fail_null(E2BIG, "%s: the question is too long", call);
    Connection connection;
    if (const int error = connection.open(call, socket_path); error != 0) return pass_null(error);
    request.text_bytes = static_cast<std::uint32_t>(length);
    std::memcpy(request.text, question, length);
    rocem_abi_management_reply reply{};
    rocem::client::Fds fds;
    const int error = connection.ask(call, ipc::MessageType::management, request, reply, fds);
    if (error != 0) return pass_null(error);
    const ipc::Mapping text = ipc::map_sealed(fds[0].get(), reply.text_bytes, ipc::Access::read_only);
    if (!text) return fail_null(errno, "%s: cannot map the daemon's answer", call);
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) return fail_null(ENOMEM, "%s: no memory", call);
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}
