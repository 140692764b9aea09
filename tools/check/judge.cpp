#include "tools/check/judge.hpp"

#include <algorithm>
#include <memory>

#include "tools/check/connection.hpp"
#include "tools/check/mtu.hpp"
#include "tools/check/requester_rules.hpp"
#include "tools/check/responder_rules.hpp"

namespace rocem::tools {
namespace {

// Requests this far from what is outstanding belong to another connection.
constexpr Place ahead_max = 1 << 16;
constexpr std::int32_t behind_max = 1 << 16;

class Case {
 public:
    Case(const CheckOptions& options, ConnectionReport report)
        : report_(std::move(report)),
          connection_(options, report_),
          requester_(connection_),
          responder_(connection_) {}
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    void set_mtu(std::optional<protocol::PathMtu> mtu) {
        connection_.mtu_known = mtu.has_value();
        if (!mtu) return;
        connection_.mtu = mtu->bytes();
        report_.mtu = mtu->bytes();
    }

    void begin_in_the_middle() { connection_.began_in_the_middle = true; }

    void see(const Sighting& frame) {
        if (report_.first_frame == 0) report_.first_frame = frame.number;
        report_.last_frame = frame.number;
        if (!frame.intact) ++report_.counters.icrc_errors;
        if (frame.info->is_request) {
            ++report_.counters.requests;
            requester_.see(frame, place_of_request(frame));
        } else if (frame.intact) {
            const Place place = place_of(frame.psn, connection_.top);
            if (!responder_.belongs(frame, place)) {
                responder_.see_stranger(frame, place);
                return;
            }
            responder_.see(frame, place);
            requester_.answer_seen();
        }
    }

    bool started() const { return connection_.requested; }

    // The request cannot belong to what was seen so far.
    bool is_far_off(const Sighting& request) const {
        if (!connection_.requested || !request.intact || !request.info->starts_message()) return false;
        const Place place = place_of_request(request);
        return place > connection_.top + ahead_max ||
               place < std::min(connection_.covered, connection_.position) - behind_max;
    }
    bool is_due(const Sighting& request) const {
        return connection_.requested && place_of_request(request) == connection_.position;
    }

    ConnectionReport finish() {
        finish_fatal();
        finish_gaps();
        std::stable_sort(
            report_.findings.begin(), report_.findings.end(),
            [](const Finding& a, const Finding& b) { return a.frames.front() < b.frames.front(); });
        return std::move(report_);
    }

 private:
    Place place_of_request(const Sighting& frame) const {
        if (!connection_.requested) return frame.psn.value();
        return place_of(frame.psn, connection_.position);
    }

    void finish_fatal() {
        const auto& fatal = connection_.fatal;
        if (!fatal || fatal->gone_back || fatal->reported || !fatal->request_behind) return;
        connection_.find(Rule::request_after_fatal_nak, {*fatal->request_behind, fatal->number},
                         "a request goes on behind the fatal NAK of " + psn_text(fatal->place));
    }

    void finish_gaps() {
        const Place delivered = connection_.log.delivered();
        const bool hole = connection_.requested && connection_.highest_intact > delivered;
        const auto known = std::find_if(report_.gaps.begin(), report_.gaps.end(), [&](const Gap& gap) {
            return !gap.repaired && gap.psn == psn_at(delivered);
        });
        if (hole && known == report_.gaps.end()) {
            Gap gap;
            gap.psn = psn_at(delivered);
            if (connection_.gap_frame != 0) gap.seen_frame = connection_.gap_frame;
            report_.gaps.push_back(gap);
        }
        // A requester that gave up, or was refused, leaves things open rightly.
        if (!connection_.options.ended || connection_.fatal || requester_.gave_up_or_waits()) return;
        bool open = false;
        for (const Gap& gap : report_.gaps) {
            if (gap.repaired) continue;
            open = true;
            connection_.find(
                Rule::never_repaired, {gap.nak_frame.value_or(gap.seen_frame.value_or(0))},
                "the gap at " + psn_text(place_of(gap.psn, connection_.top)) + " is open at the end");
        }
        if (connection_.answered && connection_.covered < connection_.top && !open) {
            connection_.find(Rule::never_repaired, {report_.last_frame},
                             psn_text(connection_.covered) + " is unacknowledged at the end");
        }
    }

    ConnectionReport report_;
    Connection connection_;
    RequesterRules requester_;
    ResponderRules responder_;
};

class Judge {
 public:
    Judge(const Stream& stream, std::span<const AnnouncedStart> starts, const CheckOptions& options)
        : stream_(stream), options_(options) {
        for (const AnnouncedStart& start : starts) {
            if (start.requests == stream.requests) starts_.push_back(start);
        }
    }

    std::vector<ConnectionReport> run() {
        open(0);
        for (std::size_t i = 0; i < stream_.frames.size(); ++i) {
            const Sighting& frame = stream_.frames[i];
            if (frame.info->is_request && case_->started() && is_new(frame)) {
                reports_.push_back(case_->finish());
                open(i);
            }
            case_->see(frame);
        }
        reports_.push_back(case_->finish());
        return std::move(reports_);
    }

 private:
    bool is_new(const Sighting& request) {
        if (!request.intact || !request.info->starts_message()) return false;
        const auto announced = std::find_if(starts_.begin(), starts_.end(), [&](const AnnouncedStart& start) {
            return start.order > opened_at_ && start.order < request.order && start.psn == request.psn;
        });
        if (announced != starts_.end() && !case_->is_due(request)) {
            starts_.erase(starts_.begin(), announced + 1);
            return true;
        }
        return case_->is_far_off(request);
    }

    void open(std::size_t first) {
        ConnectionReport report;
        report.requester = stream_.requests.source;
        report.responder = stream_.requests.destination;
        report.responder_qpn = stream_.requests.qpn;
        report.requester_qpn = stream_.requester_qpn;
        if (!stream_.frames.empty()) report.service = stream_.frames[first].info->service;
        case_ = std::make_unique<Case>(options_, std::move(report));
        case_->set_mtu(options_.mtu ? options_.mtu : infer_mtu(std::span(stream_.frames).subspan(first)));
        if (first == 0 && begins_in_the_middle()) case_->begin_in_the_middle();
        opened_at_ = stream_.frames.empty() ? 0 : stream_.frames[first].order;
    }

    // Signs of packets that were sent before the trace: answers before any request, the rest of a message, a
    // resend of what was not seen.
    bool begins_in_the_middle() const {
        const Sighting* first = nullptr;
        for (const Sighting& frame : stream_.frames) {
            if (!frame.intact) continue;
            if (first == nullptr) {
                if (!frame.info->is_request || !frame.info->starts_message()) return true;
                first = &frame;
            } else if (frame.info->is_request) {
                const std::int32_t steps = protocol::Psn::distance(first->psn, frame.psn);
                if (steps < 0 && steps > -behind_max) return true;
            }
        }
        return false;
    }

    const Stream& stream_;
    const CheckOptions& options_;
    std::vector<AnnouncedStart> starts_;
    std::vector<ConnectionReport> reports_;
    std::unique_ptr<Case> case_;
    std::uint64_t opened_at_ = 0;
};

}  // namespace

std::vector<ConnectionReport> judge(const Stream& stream, std::span<const AnnouncedStart> starts,
                                    const CheckOptions& options) {
    return Judge(stream, starts, options).run();
}

}  // namespace rocem::tools
