#include "queue_engine/memory.hpp"

#include "queue_engine/qp_attributes.hpp"

namespace rocem::engine {
namespace {

constexpr unsigned consumer_key_bits = 8;  // the low byte is the consumer's (ibv_inc_rkey)
constexpr std::uint32_t key_index_bound = 1u << 24;

}  // namespace

Memory::Memory(const DeviceLimits& limits)
    : limits_(limits), pds_(limits.max_pd), mrs_(limits.max_mr), by_key_(limits.max_mr) {}

Expected<PdHandle> Memory::create_pd() {
    if (pds_.full()) return tl::unexpected(Error::no_memory);
    return pds_.emplace();
}

Error Memory::destroy_pd(PdHandle pd) {
    const Pd* found = pds_.find(pd);
    if (found == nullptr) return Error::not_found;
    if (found->users != 0) return Error::busy;
    pds_.erase(pd);
    return Error::none;
}

Expected<std::uint32_t> Memory::choose_key(const MrSpec& spec, Random& random) const {
    if (spec.requested_key) {
        const std::uint32_t key = spec.requested_key->value();
        if (by_key_.find(key >> consumer_key_bits) != IdMap::none) return tl::unexpected(Error::invalid);
        return key;
    }
    // Index 0 stays free: a key of zero is what forgotten initialisation looks like.
    std::uint32_t index = 0;
    do {
        index = random.below(key_index_bound);
    } while (index == 0 || by_key_.find(index) != IdMap::none);
    return index << consumer_key_bits | random.below(1u << consumer_key_bits);
}

Expected<MrInfo> Memory::register_mr(PdHandle pd, const MrSpec& spec, Random& random) {
    Pd* owner = pds_.find(pd);
    if (owner == nullptr) return tl::unexpected(Error::not_found);
    constexpr std::uint32_t known =
        access_local_write | access_remote_write | access_remote_read | access_remote_atomic;
    if ((spec.access & ~known) != 0) return tl::unexpected(Error::invalid);
    // ibv_reg_mr(3): remote write and remote atomic demand local write.
    const bool remote_writes = (spec.access & (access_remote_write | access_remote_atomic)) != 0;
    if (remote_writes && (spec.access & access_local_write) == 0) return tl::unexpected(Error::invalid);
    if (spec.length > limits_.max_mr_size || spec.va + spec.length < spec.va)
        return tl::unexpected(Error::invalid);
    if (mrs_.full()) return tl::unexpected(Error::no_memory);
    const Expected<std::uint32_t> key = choose_key(spec, random);
    if (!key) return tl::unexpected(key.error());

    const MrHandle handle = mrs_.emplace();
    Mr& mr = *mrs_.find(handle);
    mr.spec = spec;
    mr.pd = pd;
    mr.key = *key;
    by_key_.insert(*key >> consumer_key_bits, handle.index);
    ++owner->users;
    return MrInfo{handle, protocol::LKey(*key), protocol::RKey(*key)};
}

Error Memory::deregister_mr(MrHandle handle) {
    Mr* mr = mrs_.find(handle);
    if (mr == nullptr || !mr->registered) return Error::not_found;
    mr->registered = false;
    by_key_.erase(mr->key >> consumer_key_bits);
    --pds_.find(mr->pd)->users;
    if (mr->dma_pending == 0) mrs_.erase(handle);
    return Error::none;
}

void Memory::dma_answered(std::uint32_t index) {
    Mr& mr = *mrs_.at(index);
    --mr.dma_pending;
    if (mr.dma_pending == 0 && !mr.registered) mrs_.erase(mrs_.handle_at(index));
}

std::optional<Translation> Memory::translate(std::uint32_t key, PdHandle pd, std::uint64_t va,
                                             std::uint64_t length, std::uint32_t access) const {
    const std::uint32_t index = by_key_.find(key >> consumer_key_bits);
    if (index == IdMap::none) return std::nullopt;
    const Mr& mr = *mrs_.at(index);
    if (mr.key != key || mr.pd != pd || (mr.spec.access & access) != access) return std::nullopt;
    // Differences only: va + length may wrap at 2^64.
    if (va < mr.spec.va || length > mr.spec.length || va - mr.spec.va > mr.spec.length - length)
        return std::nullopt;
    return Translation{index, mr.spec.region, va - mr.spec.va};
}

}  // namespace rocem::engine
