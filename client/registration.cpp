// Protection domains, memory that the daemon maps too, and its registration.
#include <cerrno>
#include <iterator>
#include <memory>
#include <new>

#include "client/error.hpp"
#include "client/objects.hpp"

namespace rocem::client {
namespace {

// The region that holds all of [address, address + length), or null. Under regions_mutex.
Region* find_region(Context& context, const std::byte* address, std::size_t length) {
    auto next = context.regions.upper_bound(address);
    if (next == context.regions.begin()) return nullptr;
    Region& region = std::prev(next)->second;
    const auto offset = static_cast<std::size_t>(address - region.mapping.data());
    return offset <= region.mapping.size() && length <= region.mapping.size() - offset ? &region : nullptr;
}

}  // namespace
}  // namespace rocem::client

using rocem::client::Context;
using rocem::client::context_of;
using rocem::client::fail;
using rocem::client::fail_null;
using rocem::client::Mr;
using rocem::client::pass_null;
using rocem::client::Pd;
using rocem::client::pd_of;
using rocem::client::Region;
namespace ipc = rocem::ipc;

rocem_pd* rocem_alloc_pd(rocem_context* context) {
    constexpr const char* call = "rocem_alloc_pd";
    Context& owner = context_of(context);
    std::unique_ptr<Pd> pd(new (std::nothrow) Pd());
    if (!pd) return fail_null(ENOMEM, "%s: no memory", call);
    rocem_abi_bare request{};
    rocem_abi_alloc_pd_reply reply{};
    const int error = owner.connection.ask(call, ipc::MessageType::alloc_pd, request, reply);
    if (error != 0) return pass_null(error);
    pd->context = context;
    pd->id = reply.pd;
    ++owner.users;
    return pd.release();
}

int rocem_dealloc_pd(rocem_pd* pd) {
    constexpr const char* call = "rocem_dealloc_pd";
    Context& owner = context_of(pd->context);
    Pd& self = pd_of(pd);
    if (owner.connection.forked()) return owner.connection.status(call);
    if (self.users != 0) return fail(EBUSY, "%s: %u MRs or QPs still use the PD", call, self.users.load());
    const int error = rocem::client::destroy_object(owner, call, ipc::MessageType::dealloc_pd, self.id);
    if (error != 0) return error;
    --owner.users;
    delete &self;
    return 0;
}

void* rocem_alloc(rocem_context* context, size_t bytes) {
    constexpr const char* call = "rocem_alloc";
    Context& owner = context_of(context);
    if (bytes == 0) return fail_null(EINVAL, "%s: bytes: 0", call);
    rocem_abi_alloc_memory_request request{};
    request.bytes = bytes;
    rocem_abi_alloc_memory_reply reply{};
    rocem::client::Fds fds;
    const int error = owner.connection.ask(call, ipc::MessageType::alloc_memory, request, reply, fds);
    if (error != 0) return pass_null(error);
    Region region;
    region.id = reply.region;
    if (reply.bytes >= bytes)
        region.mapping = ipc::map_sealed(fds[0].get(), reply.bytes, ipc::Access::read_write);
    if (!region.mapping) {
        const int map_error = reply.bytes >= bytes ? errno : EPROTO;
        rocem::client::destroy_object(owner, call, ipc::MessageType::free_memory, reply.region);
        return fail_null(map_error, "%s: cannot map %zu bytes", call, bytes);
    }
    std::byte* const address = region.mapping.data();
    const std::lock_guard lock(owner.regions_mutex);
    owner.regions.emplace(address, std::move(region));
    ++owner.users;
    return address;
}

int rocem_free(rocem_context* context, void* memory) {
    constexpr const char* call = "rocem_free";
    Context& owner = context_of(context);
    if (owner.connection.forked()) return owner.connection.status(call);
    const std::lock_guard lock(owner.regions_mutex);
    const auto place = owner.regions.find(static_cast<const std::byte*>(memory));
    if (place == owner.regions.end())
        return fail(EINVAL, "%s: %p did not come from rocem_alloc", call, memory);
    if (place->second.mrs != 0) return fail(EBUSY, "%s: %u MRs still lie in it", call, place->second.mrs);
    const int error =
        rocem::client::destroy_object(owner, call, ipc::MessageType::free_memory, place->second.id);
    if (error != 0) return error;
    owner.regions.erase(place);
    --owner.users;
    return 0;
}

rocem_mr* rocem_reg_mr(rocem_pd* pd, void* addr, size_t length, uint32_t access) {
    return rocem_reg_mr_iova(pd, addr, length, reinterpret_cast<std::uintptr_t>(addr), access);
}

rocem_mr* rocem_reg_mr_iova(rocem_pd* pd, void* addr, size_t length, uint64_t iova, uint32_t access) {
    constexpr const char* call = "rocem_reg_mr";
    Context& owner = context_of(pd->context);
    if (const int error = owner.connection.status(call); error != 0) return pass_null(error);
    std::unique_ptr<Mr> mr(new (std::nothrow) Mr());
    if (!mr) return fail_null(ENOMEM, "%s: no memory", call);
    // Held over the daemon's answer: the region must not be freed in between.
    const std::lock_guard lock(owner.regions_mutex);
    const auto* first = static_cast<const std::byte*>(addr);
    Region* region = rocem::client::find_region(owner, first, length);
    if (region == nullptr) {
        return fail_null(EOPNOTSUPP, "%s: addr: the %zu bytes at %p are not inside memory of rocem_alloc",
                         call, length, addr);
    }
    rocem_abi_reg_mr_request request{};
    request.pd = pd_of(pd).id;
    request.road = ROCEM_ABI_ROAD_REGION;
    request.region = region->id;
    request.access = access;
    request.offset = static_cast<std::uint64_t>(first - region->mapping.data());
    request.length = length;
    request.va = iova;
    rocem_abi_reg_mr_reply reply{};
    const int error = owner.connection.ask(call, ipc::MessageType::reg_mr, request, reply);
    if (error != 0) return pass_null(error);
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = addr;
    mr->length = length;
    mr->lkey = reply.lkey;
    mr->rkey = reply.rkey;
    mr->id = reply.mr;
    mr->region = region->mapping.data();
    ++region->mrs;
    ++pd_of(pd).users;
    return mr.release();
}

int rocem_dereg_mr(rocem_mr* mr) {
    constexpr const char* call = "rocem_dereg_mr";
    Context& owner = context_of(mr->context);
    if (owner.connection.forked()) return owner.connection.status(call);
    Mr& self = *static_cast<Mr*>(mr);
    const int error = rocem::client::destroy_object(owner, call, ipc::MessageType::dereg_mr, self.id);
    if (error != 0) return error;
    const std::lock_guard lock(owner.regions_mutex);
    --owner.regions.at(self.region).mrs;
    --pd_of(self.pd).users;
    delete &self;
    return 0;
}
