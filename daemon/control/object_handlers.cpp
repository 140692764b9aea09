// The part of ControlHandlers that makes, changes and destroys objects.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include "daemon/control/attribute_codec.hpp"
#include "daemon/control/control_handlers.hpp"
#include "ipc/doorbell.hpp"

namespace rocem::daemon {
namespace {

using ObjectRequest = rocem_abi_object_request;

// enum ibv_access_flags: what an MR takes, and hints (bits 20 to 29) that a device may ignore.
constexpr std::uint32_t mr_access = engine::access_local_write | engine::access_remote_write |
                                    engine::access_remote_read | engine::access_remote_atomic;
constexpr std::uint32_t optional_access = 0x3ff00000;

struct CapLimit {
    const char* name;
    std::uint32_t asked;
    std::uint32_t max;
};

std::optional<std::string> check_caps(const ipc::QpCaps& caps, const engine::DeviceLimits& limits) {
    const std::array<CapLimit, 5> checks{{{"max_send_wr", caps.max_send_wr, limits.max_qp_wr},
                                          {"max_recv_wr", caps.max_recv_wr, limits.max_qp_wr},
                                          {"max_send_sge", caps.max_send_sge, limits.max_sge},
                                          {"max_recv_sge", caps.max_recv_sge, limits.max_sge},
                                          {"max_inline_data", caps.max_inline_data, limits.max_inline_data}}};
    for (const CapLimit& check : checks) {
        if (check.asked > check.max)
            return fmt::format("{}: {} is above {}", check.name, check.asked, check.max);
    }
    return std::nullopt;
}

}  // namespace

// --- protection domains ---

void ControlHandlers::alloc_pd(std::span<const std::byte> bytes) {
    ask(AllocPd{}, [this, header = ipc::read_message<Header>(bytes)](Answer&& answer) {
        if (refused(header, answer)) return;
        auto made = ipc::make_reply<rocem_abi_alloc_pd_reply>(header);
        made.pd = std::get<PdMade>(answer).pd;
        reply(made);
    });
}

void ControlHandlers::dealloc_pd(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    ask(DeallocPd{.pd = request.object}, [this, header = request.header](Answer&& answer) {
        if (!refused(header, answer)) accept(header);
    });
}

// --- memory ---

void ControlHandlers::alloc_memory(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_alloc_memory_request>(bytes);
    if (request.bytes == 0) {
        refuse(request.header, EINVAL, "bytes: 0 is refused");
        return;
    }
    auto memory = memory_.make_segment("rocem-memory", request.bytes);
    if (!memory) {
        refuse(request.header, ENOMEM, fmt::format("bytes: {}", memory.error()));
        return;
    }
    auto answer = ipc::make_reply<rocem_abi_alloc_memory_reply>(request.header);
    answer.region = next_region_++;
    answer.bytes = memory->mapping.size();
    Fds fds;
    fds.push_back(std::move(memory->fd));
    reply(answer, std::move(fds));
    regions_.emplace(answer.region, Region{.memory = std::move(*memory), .mrs = 0});
}

void ControlHandlers::free_memory(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    const auto found = regions_.find(request.object);
    if (found == regions_.end()) {
        refuse(request.header, EINVAL, fmt::format("region: this session has no region {}", request.object));
        return;
    }
    if (found->second.mrs != 0) {
        refuse(request.header, EBUSY,
               fmt::format("region {}: {} memory regions still use it", request.object, found->second.mrs));
        return;
    }
    memory_.forget_segment(found->second.memory.mapping.size());
    regions_.erase(found);
    accept(request.header);
}

void ControlHandlers::reg_mr(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_reg_mr_request>(bytes);
    const Header& header = request.header;
    if (request.road != ROCEM_ABI_ROAD_REGION) {
        refuse(header, EOPNOTSUPP,
               fmt::format("road: {} is not supported, only memory of alloc_memory", request.road));
        return;
    }
    const auto found = regions_.find(request.region);
    if (found == regions_.end()) {
        refuse(header, EINVAL, fmt::format("region: this session has no region {}", request.region));
        return;
    }
    Region& region = found->second;
    const std::uint64_t size = region.memory.mapping.size();
    if (request.length > size || request.offset > size - request.length) {
        refuse(header, EINVAL,
               fmt::format("length: {} bytes at offset {} are not inside region {} of {} bytes",
                           request.length, request.offset, request.region, size));
        return;
    }
    if ((request.access & ~(mr_access | optional_access)) != 0) {
        refuse(
            header, EOPNOTSUPP,
            fmt::format("access: {:#x} is not supported", request.access & ~(mr_access | optional_access)));
        return;
    }
    // Counted before the answer: the region must not go while the worker makes the MR.
    ++region.mrs;
    ask(RegisterMr{.pd = request.pd,
                   .access = request.access & mr_access,
                   .va = request.va,
                   .length = request.length,
                   .base = region.memory.mapping.data() + request.offset},
        [this, header, region_id = request.region](Answer&& answer) {
            if (refused(header, answer)) {
                --regions_.at(region_id).mrs;
                return;
            }
            const auto& mr = std::get<MrMade>(answer);
            mr_regions_[mr.mr] = region_id;
            auto made = ipc::make_reply<rocem_abi_reg_mr_reply>(header);
            made.mr = mr.mr;
            made.lkey = mr.l_key.value();
            made.rkey = mr.r_key.value();
            reply(made);
        });
}

void ControlHandlers::dereg_mr(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    ask(DeregisterMr{.mr = request.object}, [this, request](Answer&& answer) {
        if (refused(request.header, answer)) return;
        const auto found = mr_regions_.find(request.object);
        --regions_.at(found->second).mrs;
        mr_regions_.erase(found);
        accept(request.header);
    });
}

// --- completion channels and queues ---

void ControlHandlers::create_channel(std::span<const std::byte> bytes) {
    const auto header = ipc::read_message<Header>(bytes);
    // A channel costs two descriptors; a session has as many as it may have segments.
    if (channels_.size() >= services_.limits.session_segments_max) {
        refuse(header, ENOMEM, fmt::format("channel: session_segments_max {} is reached", channels_.size()));
        return;
    }
    ipc::SocketPair sockets = ipc::make_event_sockets();
    if (!sockets.daemon_end) {
        refuse(header, EMFILE, fmt::format("channel: no file descriptor left: {}", std::strerror(errno)));
        return;
    }
    auto answer = ipc::make_reply<rocem_abi_create_channel_reply>(header);
    answer.channel = next_channel_++;
    Fds fds;
    fds.push_back(std::move(sockets.client_end));
    reply(answer, std::move(fds));
    channels_.emplace(answer.channel, Channel{.daemon_end = std::move(sockets.daemon_end), .cqs = 0});
}

void ControlHandlers::destroy_channel(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    const auto found = channels_.find(request.object);
    if (found == channels_.end()) {
        refuse(request.header, EINVAL,
               fmt::format("channel: this session has no channel {}", request.object));
        return;
    }
    if (found->second.cqs != 0) {
        refuse(
            request.header, EBUSY,
            fmt::format("channel {}: {} completion queues still use it", request.object, found->second.cqs));
        return;
    }
    channels_.erase(found);
    accept(request.header);
}

void ControlHandlers::create_cq(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_create_cq_request>(bytes);
    const Header& header = request.header;
    if (request.cqe == 0 || request.cqe > nic().engine.limits.max_cqe) {
        refuse(header, EINVAL,
               fmt::format("cqe: {} is not between 1 and {}", request.cqe, nic().engine.limits.max_cqe));
        return;
    }
    if (request.comp_vector != 0) {
        refuse(header, EINVAL, fmt::format("comp_vector: {} is not 0", request.comp_vector));
        return;
    }
    const auto channel = channels_.find(request.channel);
    if (request.channel != 0 && channel == channels_.end()) {
        refuse(header, EINVAL, fmt::format("channel: this session has no channel {}", request.channel));
        return;
    }
    const auto memory = memory_.allocate(ipc::cq_layout(request.cqe).bytes);
    if (!memory) {
        refuse(header, ENOMEM, fmt::format("cqe {}: {}", request.cqe, memory.error()));
        return;
    }
    const auto fds = copy_fds(header, std::array<int, 1>{memory->fd});
    if (fds == nullptr) return memory_.release(memory->ref);
    if (request.channel != 0) ++channel->second.cqs;
    ask(CreateCq{.cqe = request.cqe,
                 .object = memory->address,
                 .channel = request.channel != 0 ? channel->second.daemon_end.get() : -1},
        [this, request, fds, memory = *memory](Answer&& answer) {
            if (refused(request.header, answer)) {
                if (request.channel != 0) --channels_.at(request.channel).cqs;
                memory_.release(memory.ref);
                return;
            }
            const auto& cq = std::get<CqMade>(answer);
            cqs_[cq.slot] = {.memory = memory.ref, .channel = request.channel};
            auto made = ipc::make_reply<rocem_abi_create_cq_reply>(request.header);
            made.cq_slot = cq.slot;
            made.cq_epoch = cq.epoch;
            made.cqe = request.cqe;
            made.segment = memory.ref;
            reply(made, std::move(*fds));
        });
}

void ControlHandlers::destroy_cq(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    ask(DestroyCq{.slot = request.object, .epoch = request.epoch}, [this, request](Answer&& answer) {
        if (refused(request.header, answer)) return;
        const auto found = cqs_.find(request.object);
        if (found->second.channel != 0) --channels_.at(found->second.channel).cqs;
        memory_.release(found->second.memory);
        cqs_.erase(found);
        accept(request.header);
    });
}

// --- queue pairs ---

void ControlHandlers::create_qp(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_create_qp_request>(bytes);
    const Header& header = request.header;
    if (request.qp_type != static_cast<std::uint32_t>(engine::QpType::rc)) {
        refuse(header, EOPNOTSUPP, fmt::format("qp_type: {} is not supported, only 2 (RC)", request.qp_type));
        return;
    }
    if (request.sq_sig_all > 1) {
        refuse(header, EINVAL, fmt::format("sq_sig_all: {} is neither 0 nor 1", request.sq_sig_all));
        return;
    }
    if (auto problem = check_caps(request.caps, nic().engine.limits)) {
        refuse(header, EINVAL, *problem);
        return;
    }
    const auto memory = memory_.allocate(ipc::qp_layout(request.caps).bytes);
    if (!memory) {
        refuse(header, ENOMEM, fmt::format("qp: {}", memory.error()));
        return;
    }
    const auto fds = copy_fds(header, std::array<int, 1>{memory->fd});
    if (fds == nullptr) return memory_.release(memory->ref);
    ask(CreateQp{.pd = request.pd,
                 .send_cq_slot = request.send_cq_slot,
                 .recv_cq_slot = request.recv_cq_slot,
                 .sq_sig_all = request.sq_sig_all != 0,
                 .caps = request.caps,
                 .object = memory->address},
        [this, request, fds, memory = *memory](Answer&& answer) {
            if (refused(request.header, answer)) {
                memory_.release(memory.ref);
                return;
            }
            const auto& qp = std::get<QpMade>(answer);
            qps_[qp.slot] = memory.ref;
            auto made = ipc::make_reply<rocem_abi_create_qp_reply>(request.header);
            made.qp_slot = qp.slot;
            made.qp_epoch = qp.epoch;
            made.qpn = qp.qpn.value();
            made.caps = request.caps;
            made.segment = memory.ref;
            reply(made, std::move(*fds));
        });
}

void ControlHandlers::modify_qp(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<rocem_abi_modify_qp_request>(bytes);
    const auto attributes = read_attributes(request.attributes, request.mask, nic());
    if (!attributes) {
        refuse(request.header, EINVAL, attributes.error());
        return;
    }
    ask(ModifyQp{.slot = request.qp_slot,
                 .epoch = request.qp_epoch,
                 .mask = request.mask,
                 .send_producer = request.send_producer,
                 .recv_producer = request.recv_producer,
                 .attributes = *attributes},
        [this, header = request.header](Answer&& answer) {
            if (refused(header, answer)) return;
            const auto& modified = std::get<QpModified>(answer);
            auto done = ipc::make_reply<rocem_abi_modify_qp_reply>(header);
            done.qp_epoch = modified.epoch;
            done.state = static_cast<std::uint32_t>(modified.state);
            reply(done);
        });
}

void ControlHandlers::query_qp(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    ask(QueryQp{.slot = request.object, .epoch = request.epoch},
        [this, header = request.header](Answer&& answer) {
            if (refused(header, answer)) return;
            const auto& queried = std::get<QpQueried>(answer);
            auto found = ipc::make_reply<rocem_abi_query_qp_reply>(header);
            found.attributes = write_attributes(queried.attributes);
            found.caps = queried.caps;
            found.sq_sig_all = queried.sq_sig_all ? 1 : 0;
            reply(found);
        });
}

void ControlHandlers::destroy_qp(std::span<const std::byte> bytes) {
    const auto request = ipc::read_message<ObjectRequest>(bytes);
    ask(DestroyQp{.slot = request.object, .epoch = request.epoch}, [this, request](Answer&& answer) {
        if (refused(request.header, answer)) return;
        const auto found = qps_.find(request.object);
        memory_.release(found->second);
        qps_.erase(found);
        accept(request.header);
    });
}

}  // namespace rocem::daemon
