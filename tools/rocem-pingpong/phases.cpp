#include "phases.hpp"

#include <algorithm>

#include "failure.hpp"

namespace rocem::tools {
namespace {

constexpr std::uint64_t window_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint32_t message_bytes_max = std::uint32_t{1} << 30;

std::uint64_t messages_of(const Plan& plan, std::uint32_t size) {
    if (plan.total_bytes == 0) return plan.iterations;
    if (size == 0) throw Failure("--total-bytes: messages of 0 bytes never make it up");
    return plan.total_bytes / size + (plan.total_bytes % size != 0 ? 1 : 0);
}

void check(const Plan& plan) {
    const Plan known;
    if (plan.magic != known.magic || plan.version != known.version)
        throw Failure("the peer is another rocem-pingpong");
    const bool sane = plan.size_count <= sizes_max && plan.depth >= 1 && plan.depth <= depth_max &&
                      std::all_of(plan.sizes.begin(), plan.sizes.end(),
                                  [](std::uint32_t size) { return size <= message_bytes_max; });
    if (!sane) throw Failure("the peer's plan is out of range");
}

}  // namespace

std::vector<Phase> phases_of(const Plan& plan) {
    check(plan);
    std::vector<Phase> phases;
    for (const VerbName& entry : verb_names) {
        if ((plan.verbs >> static_cast<unsigned>(entry.verb) & 1) == 0) continue;
        const std::uint32_t size_count = is_atomic(entry.verb) ? 1 : plan.size_count;
        for (std::uint32_t i = 0; i < size_count; ++i) {
            Phase phase;
            phase.verb = entry.verb;
            phase.size = is_atomic(entry.verb) ? std::uint32_t{8} : plan.sizes[i];
            phase.messages = messages_of(plan, phase.size);
            phase.depth = static_cast<std::uint32_t>(
                std::clamp<std::uint64_t>(window_bytes_max / slot_bytes(phase), 1, plan.depth));
            phase.seed = plan.seed + (phases.size() << 32);
            phases.push_back(phase);
        }
    }
    return phases;
}

std::uint64_t slot_bytes(const Phase& phase) {
    constexpr std::uint64_t line = 64;
    return std::max<std::uint64_t>((phase.size + line - 1) / line * line, line);
}

std::uint64_t buffer_bytes(const std::vector<Phase>& phases) {
    std::uint64_t bytes = 0;
    for (const Phase& phase : phases)
        bytes = std::max(bytes, phase.depth * slot_bytes(phase));
    return bytes;
}

AtomicScript::AtomicScript(const Phase& phase) : verb_(phase.verb), word_(phase.seed * 0x9e3779b97f4a7c15) {}

AtomicScript::Step AtomicScript::next() {
    ++steps_;
    Step step;
    step.original = word_;
    if (verb_ == Verb::faa) {
        step.compare_add = steps_;
        word_ += steps_;
    } else if (steps_ % 4 == 0) {
        // A comparison that fails must leave the word alone.
        step.compare_add = ~word_;
        step.swap = steps_;
    } else {
        step.compare_add = word_;
        step.swap = word_ ^ (steps_ * 0xbf58476d1ce4e5b9);
        word_ = step.swap;
    }
    return step;
}

}  // namespace rocem::tools
