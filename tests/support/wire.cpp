#include "tests/support/wire.hpp"

#include <algorithm>
#include <chrono>

namespace rocem::test {
namespace {

// A delayed frame that nothing overtakes comes all the same.
constexpr engine::Duration hold_max = std::chrono::microseconds(50);

}  // namespace

bool kind_matches(FrameKind kind, const RocePacket& packet) {
    switch (kind) {
        case FrameKind::any:
            return true;
        case FrameKind::request:
            return !packet.is_response();
        case FrameKind::ack:
            return packet.is_positive_ack();
        case FrameKind::nak:
            return packet.is_nak();
        case FrameKind::rnr_nak:
            return packet.is_rnr_nak();
        case FrameKind::read_response:
            return packet.is_read_response();
        case FrameKind::atomic_ack:
            return packet.opcode == Op::atomic_acknowledge;
    }
    return false;
}

namespace {

std::string answer_name(const RocePacket& packet) {
    if (packet.is_rnr_nak()) return "RNR_NAK";
    if (!packet.is_nak()) return name_of(packet.opcode);
    switch (packet.syndrome) {
        case syndrome_psn_sequence:
            return "NAK_PSN_SEQUENCE";
        case syndrome_invalid_request:
            return "NAK_INVALID_REQUEST";
        case syndrome_remote_access:
            return "NAK_REMOTE_ACCESS";
        case syndrome_remote_operational:
            return "NAK_REMOTE_OPERATIONAL";
        default:
            return "NAK_" + std::to_string(packet.syndrome & 0x1f);
    }
}

const char* fate_suffix(Fate fate) {
    switch (fate) {
        case Fate::delivered:
            return "";
        case Fate::lost:
            return " lost";
        case Fate::duplicated:
            return " duplicated";
        case Fate::delayed:
            return " delayed";
        case Fate::corrupted:
            return " corrupted";
    }
    return "";
}

}  // namespace

std::string describe(const RocePacket& packet, std::int32_t relative_psn) {
    std::string text = answer_name(packet);
    text += relative_psn < 0 ? " psn=" : " psn=+";
    text += std::to_string(relative_psn);
    if (packet.opcode == Op::read_request) text += " len=" + std::to_string(packet.dma_length);
    const bool aeth = packet.is_response() && packet.opcode != Op::read_response_middle;
    if (aeth) text += " msn=" + std::to_string(packet.msn);
    if (packet.is_rnr_nak()) text += " timer=" + std::to_string(packet.syndrome & 0x1f);
    if (packet.opcode == Op::atomic_acknowledge) text += " original=" + std::to_string(packet.original);
    return text;
}

std::string describe(const Sighting& sighting) {
    std::string text = sighting.from == Side::a ? "A>B " : "B>A ";
    if (sighting.flow != 0) text += "q" + std::to_string(sighting.flow) + " ";
    return text + describe(sighting.packet, sighting.psn) + fate_suffix(sighting.fate);
}

void Wire::add_flow(unsigned flow, Side requester, std::uint32_t requester_qpn, std::uint32_t responder_qpn,
                    std::uint32_t first_psn) {
    flows_[{requester, responder_qpn, false}] = {flow, first_psn};
    flows_[{other(requester), requester_qpn, true}] = {flow, first_psn};
}

const Wire::Flow* Wire::find_flow(Side from, const RocePacket& packet) const {
    const auto found = flows_.find({from, packet.dest_qpn, packet.is_response()});
    return found == flows_.end() ? nullptr : &found->second;
}

Sighting Wire::sight(engine::Time now, Side from, const std::vector<std::byte>& frame) const {
    Sighting sighting;
    sighting.time = now;
    sighting.from = from;
    sighting.packet = read_frame(frame, &sighting.outer);
    if (const Flow* flow = find_flow(from, sighting.packet)) {
        sighting.flow = flow->number;
        sighting.psn = psn_distance(sighting.packet.psn, flow->first_psn);
    } else {
        sighting.psn = static_cast<std::int32_t>(sighting.packet.psn);
    }
    return sighting;
}

Fault* Wire::matching_fault(const Sighting& sighting) {
    Fault* chosen = nullptr;
    for (Fault& fault : faults_) {
        const FrameSelector& selector = fault.selector;
        if (selector.from != sighting.from || selector.flow != sighting.flow) continue;
        if (!kind_matches(selector.kind, sighting.packet)) continue;
        if (selector.psn && *selector.psn != sighting.psn) continue;
        const unsigned match = ++fault.matches;
        if (chosen == nullptr && match >= selector.first && match - selector.first < selector.count)
            chosen = &fault;
    }
    return chosen;
}

Fate Wire::draw_weather(unsigned& delay_frames) {
    // One draw for every chance of every frame: the n-th frame meets the same weather whatever befell the
    // others.
    const auto draw = [this] { return static_cast<double>(random_() >> 11) * 0x1p-53; };
    const double lost = draw();
    const double duplicated = draw();
    const double delayed = draw();
    const double corrupted = draw();
    delay_frames = 1 + static_cast<unsigned>(random_() % 5);
    if (lost < weather_->lost) return Fate::lost;
    if (duplicated < weather_->duplicated) return Fate::duplicated;
    if (delayed < weather_->delayed) return Fate::delayed;
    if (corrupted < weather_->corrupted) return Fate::corrupted;
    return Fate::delivered;
}

void Wire::put(engine::Time arrival, Side from, std::vector<std::byte> frame) {
    in_flight_.emplace(std::pair(arrival, order_++), Frame{other(from), std::move(frame)});
}

void Wire::count_down_held(engine::Time now, Side from) {
    for (auto held = held_.begin(); held != held_.end();) {
        if (held->from == from && --held->frames_left == 0) {
            put(now + latency_, from, std::move(held->frame));
            held = held_.erase(held);
        } else {
            ++held;
        }
    }
}

void Wire::send(engine::Time now, Side from, std::vector<std::byte> frame) {
    ++frames_sent_[static_cast<std::size_t>(from)];
    if (!keep_log_ && faults_.empty() && !weather_) {
        put(now + latency_, from, std::move(frame));
        return;
    }
    Sighting sighting = sight(now, from, frame);
    unsigned delay_frames = 1;
    if (const Fault* fault = matching_fault(sighting)) {
        sighting.fate = fault->action;
        delay_frames = fault->delay_frames;
    } else if (weather_) {
        sighting.fate = draw_weather(delay_frames);
    }
    switch (sighting.fate) {
        case Fate::delivered:
            put(now + latency_, from, frame);
            break;
        case Fate::lost:
            break;
        case Fate::duplicated:
            put(now + latency_, from, frame);
            put(now + latency_, from, frame);
            break;
        case Fate::delayed:
            held_.push_back({from, delay_frames + 1, now + hold_max, frame});
            break;
        case Fate::corrupted: {
            // The last byte before the ICRC: payload, pad or header, always covered.
            std::vector<std::byte> damaged = frame;
            damaged[damaged.size() - 5] ^= std::byte{0x10};
            put(now + latency_, from, std::move(damaged));
            break;
        }
    }
    count_down_held(now, from);
    if (keep_log_) {
        sighting.frame = std::move(frame);
        log_.push_back(std::move(sighting));
    }
}

std::vector<Frame> Wire::arrived(engine::Time now) {
    for (auto held = held_.begin(); held != held_.end();) {
        if (held->release_at <= now) {
            put(now, held->from, std::move(held->frame));
            held = held_.erase(held);
        } else {
            ++held;
        }
    }
    std::vector<Frame> frames;
    while (!in_flight_.empty() && in_flight_.begin()->first.first <= now) {
        frames.push_back(std::move(in_flight_.begin()->second));
        in_flight_.erase(in_flight_.begin());
    }
    return frames;
}

engine::Time Wire::next_arrival() const {
    engine::Time next = in_flight_.empty() ? engine::never : in_flight_.begin()->first.first;
    for (const Held& held : held_)
        next = std::min(next, held.release_at);
    return next;
}

}  // namespace rocem::test
