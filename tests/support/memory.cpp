#include "tests/support/memory.hpp"

#include <algorithm>
#include <cstring>

namespace rocem::test {

using engine::DmaAnswer;
using engine::DmaKind;
using engine::DmaOp;

std::uint64_t Memory::add_region(std::size_t length) {
    Region region;
    region.length = length;
    region.bytes.assign(length + 2 * guard_bytes, std::byte{0});
    std::fill_n(region.bytes.begin(), guard_bytes, guard_fill);
    std::fill_n(region.bytes.end() - guard_bytes, guard_bytes, guard_fill);
    regions_.emplace(next_region_, std::move(region));
    return next_region_++;
}

std::uint64_t Memory::add_phantom(std::uint64_t length) {
    Region region;
    region.length = length;
    regions_.emplace(next_region_, std::move(region));
    return next_region_++;
}

std::span<std::byte> Memory::bytes(std::uint64_t region) {
    Region& found = regions_.at(region);
    return std::span(found.bytes).subspan(guard_bytes, found.length);
}

bool Memory::guards_intact(std::uint64_t region) const {
    const Region& found = regions_.at(region);
    const auto is_guard = [](std::byte value) { return value == guard_fill; };
    return std::all_of(found.bytes.begin(), found.bytes.begin() + guard_bytes, is_guard) &&
           std::all_of(found.bytes.end() - guard_bytes, found.bytes.end(), is_guard);
}

void Memory::fault_at_operation(std::uint64_t region, unsigned n) {
    regions_.at(region).operations_until_fault = n;
}

void Memory::heal(std::uint64_t region) {
    regions_.at(region).fault_byte.reset();
    regions_.at(region).operations_until_fault.reset();
}

void Memory::ask(const DmaOp& op, std::uint64_t turn) {
    if (keep_operations_) operations_.push_back(op);
    unsigned delay = mode_.delay_polls;
    if (mode_.jitter) delay = static_cast<unsigned>(random_() % (mode_.delay_polls + 1));
    const QpKey qp = (std::uint64_t{op.qp.generation} << 32) | op.qp.index;
    pending_[qp].push_back({op, turn + delay});
}

std::vector<DmaAnswer> Memory::answer(std::uint64_t turn) {
    std::vector<DmaAnswer> answers;
    if (held_) return answers;
    std::vector<QpKey> qps;
    for (const auto& [qp, queue] : pending_)
        qps.push_back(qp);
    if (mode_.delay_polls != 0) std::shuffle(qps.begin(), qps.end(), random_);
    for (const QpKey qp : qps) {
        auto& queue = pending_.at(qp);
        while (!queue.empty() && queue.front().due_turn <= turn) {
            answers.push_back(execute(queue.front().op));
            queue.pop_front();
        }
        if (queue.empty()) pending_.erase(qp);
    }
    return answers;
}

std::size_t Memory::pending() const {
    std::size_t count = 0;
    for (const auto& [qp, queue] : pending_)
        count += queue.size();
    return count;
}

bool Memory::pending_for(engine::RxToken token) const {
    for (const auto& [qp, queue] : pending_) {
        for (const Pending& pending : queue) {
            if (pending.op.kind != DmaKind::read && pending.op.rx_token == token) return true;
        }
    }
    return false;
}

bool Memory::pending_into(std::span<const std::byte> frame) const {
    for (const auto& [qp, queue] : pending_) {
        for (const Pending& pending : queue) {
            const std::byte* at = pending.op.to_frame;
            if (pending.op.kind == DmaKind::read && at >= frame.data() && at < frame.data() + frame.size())
                return true;
        }
    }
    return false;
}

bool Memory::faulty(Region& region, const DmaOp& op, std::uint32_t& usable) const {
    usable = op.length;
    if (region.operations_until_fault) {
        if (*region.operations_until_fault == 0) {
            usable = 0;
            return true;
        }
        --*region.operations_until_fault;
    }
    if (region.fault_byte && *region.fault_byte >= op.region_offset &&
        *region.fault_byte < op.region_offset + op.length) {
        usable = static_cast<std::uint32_t>(*region.fault_byte - op.region_offset);
        return true;
    }
    return false;
}

void Memory::violation(const DmaOp& op, const char* why) {
    violations_.push_back(std::string(why) + ": region " + std::to_string(op.region) + " offset " +
                          std::to_string(op.region_offset) + " length " + std::to_string(op.length));
}

DmaAnswer Memory::execute(const DmaOp& op) {
    DmaAnswer answer;
    answer.id = op.id;
    const auto found = regions_.find(op.region);
    if (found == regions_.end()) {
        violation(op, "an operation on a region that does not exist");
        return answer;
    }
    Region& region = found->second;
    if (op.region_offset > region.length || op.length > region.length - op.region_offset) {
        violation(op, "an operation outside its region");
        return answer;
    }
    std::uint32_t usable = 0;
    answer.ok = !faulty(region, op, usable);
    region.moved += usable;
    const bool phantom = region.bytes.empty();
    std::byte* at = phantom ? nullptr : region.bytes.data() + guard_bytes + op.region_offset;
    switch (op.kind) {
        case DmaKind::read:
            if (usable == 0) break;
            if (phantom) {
                std::memset(op.to_frame, 0, usable);
            } else {
                std::memcpy(op.to_frame, at, usable);
            }
            break;
        case DmaKind::write:
            if (usable != 0 && !phantom) std::memcpy(at, op.from_frame, usable);
            break;
        case DmaKind::compare_swap:
        case DmaKind::fetch_add:
            if (op.length != 8 || op.region_offset % 8 != 0)
                violation(op, "a misaligned or odd-sized atomic");
            if (!answer.ok || phantom) break;
            std::memcpy(&answer.original, at, 8);
            std::uint64_t after = answer.original;
            if (op.kind == DmaKind::fetch_add) after += op.swap_or_add;
            if (op.kind == DmaKind::compare_swap && answer.original == op.compare) after = op.swap_or_add;
            std::memcpy(at, &after, 8);
            break;
    }
    return answer;
}

}  // namespace rocem::test
