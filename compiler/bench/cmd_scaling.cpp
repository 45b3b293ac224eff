// haloc bench --scaling.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/bench/page_words.h"
#include "compiler/bench/scaling.h"
#include "compiler/bench/scaling_measure.h"
#include "compiler/bench/scaling_page.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/commit.h"
#include "compiler/driver/console/files.h"

namespace halo::bench {

namespace {

using driver::CommandError;
using driver::Console;
using driver::ExitCode;

// The schemes to measure: on a CPU, which has no kernels for several steps at once, the first alone.
std::vector<rt::ExchangeScheme> schemes_of(bool is_gpu) {
    if (!is_gpu) return {rt::ExchangeScheme::synchronous};
    return {rt::ExchangeScheme::synchronous, rt::ExchangeScheme::asynchronous, rt::ExchangeScheme::direct};
}

constexpr std::int64_t kLeastLength = 32;  // twice the widest halo, on two devices

void check(const ScalingOptions& options) {
    for (const std::string& part : options.only)
        if (std::ranges::find(scaling_parts(), part) == scaling_parts().end())
            throw CommandError(ExitCode::usage, fmt::format("--only: scaling has no part `{}`", part),
                               "the parts are " + driver::join(scaling_parts(), ", "));
    for (const std::int64_t length : options.lengths)
        if (length < kLeastLength)
            throw CommandError(
                ExitCode::usage,
                fmt::format("--lengths: {} cells are fewer than halos of 16 on two devices need", length),
                fmt::format("the least length is {}", kLeastLength));
    require_writable(options.output, options.json);
}

bool wants(const ScalingOptions& options, const std::string& part) {
    return options.only.empty() || std::ranges::find(options.only, part) != options.only.end();
}

std::string command_of(const ScalingOptions& options) {
    std::string text = "haloc bench --scaling";
    if (options.device == "cpu") text += " --device cpu";
    if (options.devices > 0) text += fmt::format(" --devices {}", options.devices);
    if (options.quick) text += " --quick";
    for (const std::string& part : options.only)
        text += " --only " + part;
    if (options.budget != ScalingOptions{}.budget) text += fmt::format(" --budget {:g}", options.budget);
    std::string lengths;
    for (const std::int64_t length : options.lengths)
        lengths += fmt::format("{}{}", lengths.empty() ? "" : ",", length);
    return text + (lengths.empty() ? "" : " --lengths " + lengths);
}

void write(const ScalingResults& results, const ScalingOptions& options, const Console& console) {
    if (!options.json.empty()) driver::write_text(options.json, scaling_json(results));
    if (options.output.empty()) return console.result(scaling_page(results, {}));
    ScalingPictures pictures;
    const auto draw = [&](const std::string& ending, const auto& picture) {
        const std::string path = beside(options.output, ending);
        picture(path, results);
        console.message("wrote " + path);
        return file_name(path);
    };
    const auto in_pieces = [](const ScalingRun& run) { return run.devices > 1 && run.seconds > 0; };
    if (std::ranges::any_of(results.lengths, in_pieces))
        pictures.lengths = draw("-lengths.png", write_lengths);
    if (!results.beyond.empty()) pictures.beyond = draw("-beyond.png", write_beyond);
    write_into(options.output, scaling_page(results, pictures), "Scaling");
    console.message("wrote " + options.output);
}

ScalingResults about(const ScalingLab& lab, const ScalingOptions& options) {
    ScalingResults results;
    results.is_gpu = lab.is_gpu();
    results.devices = lab.devices();
    results.machine = lab.description();
    results.software = lab.software();
    results.commit = driver::commit();
    results.command = command_of(options);
    results.schemes = schemes_of(lab.is_gpu());
    results.budget = options.budget;
    if (!lab.why_no_gpu().empty()) results.missing.push_back("no GPU was measured: " + lab.why_no_gpu());
    results.node_devices = options.node_devices > 0 ? options.node_devices : lab.devices();
    results.between_nodes = options.between_nodes;
    return results;
}

}  // namespace

const std::vector<std::string>& scaling_parts() {
    static const std::vector<std::string> parts{"link", "strong", "weak", "lengths", "beyond"};
    return parts;
}

const std::vector<std::string>& scaling_specs() {
    static const std::vector<std::string> specs{"bench/star3d1", "cahn_hilliard"};
    return specs;
}

ExitCode scaling(const ScalingOptions& options, const Console& console) {
    check(options);
    ScalingLab lab(options.device, options.devices);
    ScalingResults results = about(lab, options);
    console.message(fmt::format("{}; {}; commit {}", results.machine, results.software, results.commit));
    ScalingSizes sizes = scaling_sizes(lab.is_gpu(), options.quick);
    if (!options.lengths.empty()) sizes.lengths = options.lengths;
    std::ranges::sort(sizes.lengths);
    ScalingBenchmark measuring(lab, results, sizes, [&](const std::string& line) { console.message(line); });
    if (wants(options, "link")) measuring.link();
    if (wants(options, "strong") || wants(options, "weak") || wants(options, "beyond")) measuring.rates();
    if (wants(options, "strong") || wants(options, "weak")) measuring.alone();
    if (wants(options, "strong")) measuring.strong();
    if (wants(options, "weak")) measuring.weak();
    if (wants(options, "lengths")) measuring.lengths();
    if (wants(options, "beyond") && !results.rates.empty()) measuring.beyond();
    write(results, options, console);
    if (results.is_right()) return ExitCode::ok;
    console.error("some results are wrong; the page names them");
    return ExitCode::internal;
}

}  // namespace halo::bench
