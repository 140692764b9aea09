#include "tests/scenario/workload.hpp"

#include <cstring>

namespace rocem::test {
namespace {

using engine::WrOpcode;

constexpr std::uint32_t length_max = 9000;
constexpr std::uint32_t slot_size = 9216;

constexpr WrOpcode opcodes[] = {
    WrOpcode::send,       WrOpcode::send_with_immediate,       WrOpcode::rdma_write,
    WrOpcode::rdma_write, WrOpcode::rdma_write_with_immediate, WrOpcode::rdma_read,
    WrOpcode::fetch_add};

Buffer filled_slots(Node& node, std::size_t slots, unsigned salt) {
    return node.filled(slots * slot_size, salt);
}

}  // namespace

bool Workload::takes_receive(const Step& step) {
    return step.opcode == WrOpcode::send || step.opcode == WrOpcode::send_with_immediate ||
           step.opcode == WrOpcode::rdma_write_with_immediate;
}

Workload::Workload(Story& story, Side requester, unsigned connection, unsigned requests, std::uint64_t seed)
    : story_(story), requester_(requester), connection_(connection) {
    std::mt19937_64 random(seed);
    for (std::uint32_t i = 0; i < requests; ++i) {
        Step step;
        step.opcode = opcodes[random() % std::size(opcodes)];
        // Short ones, and some that take many packets.
        step.length = static_cast<std::uint32_t>(random() % (random() % 3 == 0 ? length_max : 300));
        if (step.opcode == WrOpcode::fetch_add) step.length = 8;
        step.slot = i * slot_size;
        step.operand = random() % 1000;
        step.fence = random() % 8 == 0;
        step.solicited = random() % 4 == 0;
        steps_.push_back(step);
    }
    const auto salt = static_cast<unsigned>(seed * 4 + connection * 2);
    local_ = filled_slots(story.node(requester), requests, salt);
    remote_ = filled_slots(story.node(other(requester)), requests, salt + 1);
    word_ = story.node(other(requester)).buffer(8);
    local_before_.assign(local_.bytes.begin(), local_.bytes.end());
    remote_before_.assign(remote_.bytes.begin(), remote_.bytes.end());
}

// The same bytes in one to three pieces.
SgeList Workload::pieces(const Buffer& buffer, const Step& step, std::uint64_t salt) const {
    if (step.length < 3 || salt % 3 == 0) return buffer.slice(step.slot, step.length);
    const std::uint32_t first = step.length / 3;
    SgeList sges = buffer.slice(step.slot, first);
    sges.push_back(buffer.slice(step.slot + first, step.length - first)[0]);
    return sges;
}

SendRequest Workload::request_for(std::size_t index) const {
    const Step& step = steps_[index];
    SgeList local = pieces(local_, step, index);
    SendRequest request;
    switch (step.opcode) {
        case WrOpcode::send:
            request = send(index, std::move(local));
            break;
        case WrOpcode::send_with_immediate:
            request = send_with_immediate(index, std::move(local), static_cast<std::uint32_t>(step.operand));
            break;
        case WrOpcode::rdma_write:
            request = write(index, std::move(local), remote_.at(step.slot));
            break;
        case WrOpcode::rdma_write_with_immediate:
            request = write_with_immediate(index, std::move(local), remote_.at(step.slot),
                                           static_cast<std::uint32_t>(step.operand));
            break;
        case WrOpcode::rdma_read:
            request = read(index, std::move(local), remote_.at(step.slot));
            break;
        default:
            request = fetch_add(index, local_.slice(step.slot, 8), word_.at(), step.operand);
            break;
    }
    request.fields.fence = step.fence;
    request.fields.solicited = step.solicited;
    return request;
}

void Workload::post() {
    Node& responder = story_.node(other(requester_));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        if (!takes_receive(step)) continue;
        const bool scatters = step.opcode != WrOpcode::rdma_write_with_immediate;
        responder.post(receive(i, scatters ? pieces(remote_, step, i + 1) : SgeList{}), connection_);
    }
    for (std::size_t i = 0; i < steps_.size(); ++i)
        story_.node(requester_).post(request_for(i), connection_);
}

void Workload::judge_memory(std::string& complaints) const {
    std::vector<std::byte> local = local_before_;
    std::vector<std::byte> remote = remote_before_;
    std::uint64_t word = 0;
    for (const Step& step : steps_) {
        std::byte* const here = local.data() + step.slot;
        std::byte* const there = remote.data() + step.slot;
        if (step.opcode == WrOpcode::fetch_add) {
            std::memcpy(here, &word, 8);
            word += step.operand;
        } else if (step.opcode == WrOpcode::rdma_read) {
            std::copy_n(remote_before_.data() + step.slot, step.length, here);
        } else {
            std::copy_n(local_before_.data() + step.slot, step.length, there);
        }
    }
    std::uint64_t word_now = 0;
    std::memcpy(&word_now, word_.bytes.data(), 8);
    if (!same_bytes(local, local_.bytes)) complaints += "the requester's memory differs\n";
    if (!same_bytes(remote, remote_.bytes)) complaints += "the responder's memory differs\n";
    if (word != word_now) complaints += "atomics were not applied once each\n";
}

std::string Workload::verdict(const std::vector<engine::WorkCompletion>& sent,
                              const std::vector<engine::WorkCompletion>& received) const {
    std::string complaints;
    const engine::QpHandle requester = story_.node(requester_).qp(connection_);
    const engine::QpHandle responder = story_.node(other(requester_)).qp(connection_);
    std::uint64_t next = 0;
    for (const auto& completion : sent) {
        if (!(completion.qp == requester)) continue;
        if (completion.wr_id != next++) complaints += "out of order: " + describe(completion) + "\n";
        if (completion.status != engine::WcStatus::success)
            complaints += "failed: " + describe(completion) + "\n";
    }
    if (next != steps_.size()) complaints += std::to_string(next) + " requests completed\n";

    std::size_t at = 0;
    for (const auto& completion : received) {
        if (!(completion.qp == responder)) continue;
        while (at < steps_.size() && !takes_receive(steps_[at]))
            ++at;
        if (at == steps_.size()) {
            complaints += "one too many: " + describe(completion) + "\n";
            continue;
        }
        const Step& step = steps_[at];
        const bool immediate = step.opcode != WrOpcode::send;
        const bool right = completion.wr_id == at && completion.status == engine::WcStatus::success &&
                           completion.byte_len == step.length && completion.with_immediate == immediate &&
                           (!immediate || completion.immediate == step.operand) &&
                           completion.solicited == step.solicited;
        if (!right) complaints += "receive " + std::to_string(at) + " got " + describe(completion) + "\n";
        ++at;
    }
    while (at < steps_.size() && !takes_receive(steps_[at]))
        ++at;
    if (at != steps_.size()) complaints += "receives are missing\n";
    judge_memory(complaints);
    return complaints;
}

}  // namespace rocem::test
