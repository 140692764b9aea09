#include "tools/rocem-replay/command.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "tools/rocem-replay/report.hpp"

namespace rocem::tools {
namespace {

class Command {
 public:
    Command(const ReplayOptions& options, std::ostream& out, std::ostream& errors)
        : options_(options), out_(out), errors_(errors) {}

    int run() {
        const bool several = options_.files.size() > 1;
        for (const std::string& file : options_.files) {
            if (several && !options_.json) out_ << file << ":\n";
            const bool done = replay_file(file);
            if (several && done && !options_.json) out_ << last_.line() << "\n\n";
            if (!out_) break;
        }
        if (options_.json) {
            put({{"summary", counts_json(total_)}});
        } else {
            out_ << total_.line() << '\n';
        }
        out_.flush();
        if (!out_) fail("cannot write the output");
        return status_;
    }

 private:
    bool replay_file(const std::string& file) {
        const auto side_file = read_side_file(file);
        if (!side_file) return fail(side_file.error());
        auto capture = read_capture(file);
        if (!capture) return fail(capture.error());
        const Replay result =
            replay(std::move(*capture), *side_file, std::filesystem::path(file).filename().string());
        if (options_.json) {
            put(report_json(file, result, options_.verbose));
        } else {
            print_report(out_, result, options_.verbose);
        }
        last_ = result.counts();
        total_.add(last_);
        if (last_.different != 0) status_ = std::max(status_, replay_different);
        return true;
    }

    // A file's name need not be UTF-8.
    void put(const nlohmann::ordered_json& json) {
        out_ << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    }

    bool fail(const std::string& why) {
        out_.flush();
        errors_ << "rocem-replay: " << why << std::endl;
        status_ = replay_unreadable;
        return false;
    }

    const ReplayOptions& options_;
    std::ostream& out_;
    std::ostream& errors_;
    ReplayCounts last_;
    ReplayCounts total_;
    int status_ = replay_ok;
};

}  // namespace

int replay_files(const ReplayOptions& options, std::ostream& out, std::ostream& errors) {
    return Command(options, out, errors).run();
}

}  // namespace rocem::tools
