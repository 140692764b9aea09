#include "tools/rocem-check/command.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "tools/check/trace_checker.hpp"
#include "tools/pcap/pcap_reader.hpp"
#include "tools/rocem-check/print_report.hpp"
#include "tools/rocem-check/report_json.hpp"

namespace rocem::tools {
namespace {

class Command {
 public:
    Command(const CheckCommand& command, std::ostream& out, std::ostream& errors)
        : command_(command), several_(command.files.size() > 1), out_(out), errors_(errors) {}

    int run() {
        for (const std::string& file : command_.files) {
            print_file(file);
            if (!out_) break;
        }
        if (command_.json) {
            put({{"summary", counts_json(total_)}});
        } else {
            out_ << total_.line() << '\n';
        }
        out_.flush();
        if (!out_) fail("cannot write the output");
        return status_;
    }

 private:
    void print_file(const std::string& file) {
        const auto report = check_file(file, command_.options);
        if (!report) {
            fail(report.error());
            return;
        }
        const CheckCounts counts = CheckCounts::of(*report);
        if (command_.json) {
            put(report_json(file, *report));
        } else {
            if (several_) out_ << file << ":\n";
            print_report(out_, *report);
            if (several_) out_ << counts.line() << "\n\n";
        }
        total_.add(counts);
        if (counts.violations != 0) status_ = std::max(status_, check_violation);
    }

    // A file's name need not be UTF-8.
    void put(const nlohmann::ordered_json& json) {
        out_ << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    }

    void fail(const std::string& why) {
        out_.flush();
        errors_ << "rocem-check: " << why << std::endl;
        status_ = check_unreadable;
    }

    const CheckCommand& command_;
    bool several_;
    std::ostream& out_;
    std::ostream& errors_;
    CheckCounts total_;
    int status_ = check_ok;
};

}  // namespace

tl::expected<Report, std::string> check_file(const std::string& path, const CheckOptions& options) {
    auto reader = PcapReader::open(path);
    if (!reader) return tl::unexpected(reader.error());
    TraceChecker checker(options);
    std::chrono::nanoseconds latest{};
    for (std::uint64_t number = 1;; ++number) {
        const auto frame = reader->next();
        if (!frame) return tl::unexpected(frame.error());
        if (!*frame) return checker.finish();
        // A clock that was set back does not turn the order of a capture around.
        latest = std::max(latest, (*frame)->time);
        const auto packet = protocol::parse_frame((*frame)->bytes, (*frame)->original_bytes);
        if (packet) {
            checker.see(latest, *packet, number);
        } else {
            checker.see_other();
        }
    }
}

int check_files(const CheckCommand& command, std::ostream& out, std::ostream& errors) {
    return Command(command, out, errors).run();
}

}  // namespace rocem::tools
