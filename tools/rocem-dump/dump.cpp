#include "tools/rocem-dump/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tools/rocem-dump/frame_json.hpp"

namespace rocem::tools {
namespace {

using Json = nlohmann::ordered_json;

class Dumper {
 public:
    Dumper(const DumpOptions& options, std::ostream& out, std::ostream& errors)
        : options_(options), several_(options.files.size() > 1), out_(out), errors_(errors) {}

    int run() {
        DumpSummary total;
        for (const std::string& file : options_.files) {
            if (several_ && !options_.json) out_ << file << ":\n";
            const DumpSummary summary = dump_file(file);
            if (several_ && !options_.json) out_ << summary.line() << "\n\n";
            total.add(summary);
            if (!out_) break;
        }
        print_total(total);
        out_.flush();
        if (!out_) fail("cannot write the output");
        if (failed_) return dump_unreadable;
        return total.icrc_bad != 0 ? dump_icrc_bad : dump_ok;
    }

 private:
    DumpSummary dump_file(const std::string& file) {
        DumpSummary summary;
        auto reader = PcapReader::open(file);
        if (!reader) {
            fail(reader.error());
            return summary;
        }
        std::optional<std::chrono::nanoseconds> start;
        while (out_) {
            const auto frame = reader->next();
            if (!frame) {
                fail(frame.error());
                break;
            }
            if (!*frame) break;
            if (!start) start = (*frame)->time;
            const Inspection inspection = inspect(**frame);
            summary.count(inspection);
            if (options_.json) {
                print_json(file, summary.frames, **frame, *start, inspection);
            } else {
                print_line(summary.frames, (*frame)->time - *start, inspection);
            }
        }
        return summary;
    }

    void print_line(std::uint64_t number, std::chrono::nanoseconds since_start,
                    const Inspection& inspection) {
        out_ << fmt::format("{:5} {:14.9f} {}\n", number, std::chrono::duration<double>(since_start).count(),
                            describe(inspection));
    }

    void print_json(const std::string& file, std::uint64_t number, const CapturedFrame& frame,
                    std::chrono::nanoseconds start, const Inspection& inspection) {
        Json json;
        if (several_) json["file"] = file;
        json["number"] = number;
        json["time_ns"] = frame.time.count();
        json["since_start_ns"] = (frame.time - start).count();
        json["original_bytes"] = frame.original_bytes;
        json.update(frame_json(inspection));
        put(json);
    }

    void print_total(const DumpSummary& total) {
        if (!options_.json) {
            out_ << total.line() << "\n";
            return;
        }
        put({{"summary",
              {{"frames", total.frames},
               {"roce_v2", total.roce_v2},
               {"other", total.frames - total.roce_v2},
               {"icrc_ok", total.icrc_ok},
               {"icrc_bad", total.icrc_bad},
               {"icrc_not_checked", total.icrc_not_checked}}}});
    }

    // A file's name need not be UTF-8.
    void put(const Json& json) { out_ << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n"; }

    void fail(const std::string& why) {
        out_.flush();
        errors_ << "rocem-dump: " << why << std::endl;
        failed_ = true;
    }

    const DumpOptions& options_;
    bool several_;
    std::ostream& out_;
    std::ostream& errors_;
    bool failed_ = false;
};

}  // namespace

void DumpSummary::count(const Inspection& inspection) {
    ++frames;
    if (inspection.packet.kind == protocol::FrameKind::roce_v2) ++roce_v2;
    switch (inspection.icrc) {
        case IcrcVerdict::none:
            break;
        case IcrcVerdict::ok:
            ++icrc_ok;
            break;
        case IcrcVerdict::bad:
            ++icrc_bad;
            break;
        case IcrcVerdict::not_checked:
            ++icrc_not_checked;
            break;
    }
}

void DumpSummary::add(const DumpSummary& other) {
    frames += other.frames;
    roce_v2 += other.roce_v2;
    icrc_ok += other.icrc_ok;
    icrc_bad += other.icrc_bad;
    icrc_not_checked += other.icrc_not_checked;
}

std::string DumpSummary::line() const {
    return fmt::format("{} frames: {} RoCE v2, {} other; ICRC {} ok, {} bad, {} not checked", frames, roce_v2,
                       frames - roce_v2, icrc_ok, icrc_bad, icrc_not_checked);
}

int dump(const DumpOptions& options, std::ostream& out, std::ostream& errors) {
    return Dumper(options, out, errors).run();
}

}  // namespace rocem::tools
