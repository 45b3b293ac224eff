// haloc doctor: what is found on this machine, what is missing and how to get it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/machine_report.h"
#include "compiler/support/json_text.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cuda/cuda.h"
#include "runtime/limits/measure.h"
#include "runtime/limits/store.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

namespace {

nlohmann::ordered_json figures_json(const TargetHere& here) {
    const schedule::Target& target = here.target;
    return {{"measured", here.measured},
            {"copy_bytes_per_s", target.dram_bandwidth},
            {"l2_bytes_per_s", target.l2_bandwidth},
            {"launch_s", target.launch_seconds},
            {"graph_launch_s", target.graph_launch_seconds},
            {"barrier_s", target.barrier_seconds}};
}

// Measures the device and stores the figures. Throws rt::Error where there is no device or no NVRTC.
void measure(const DoctorOptions& options, const Console& console) {
    const int ordinal = parse_ordinal(options.device);
    const std::unique_ptr<rt::CudaDevice> device = rt::open_cuda_device(ordinal);
    rt::Nvrtc* const nvrtc = rt::Nvrtc::find();
    if (nvrtc == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    console.message(fmt::format("measuring {}; nothing else should run on it", device->description()));
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    rt::NvrtcOptions compile;
    compile.arch = device->info().arch();
    const rt::DeviceLimits limits =
        rt::measure_limits(*device, [&](const std::string& text, const std::string& name) {
            return nvrtc->compile(text, name, compile, &cache).cubin;
        });
    if (limits.barrier_seconds == 0)
        console.message(
            "note: a barrier of all blocks did not come through; its figure stays as it is built in");
    console.message("measured: " + describe_figures(target_of(device->info(), limits)));
    if (!cache.usable())
        throw rt::Error(rt::ErrorCode::io, fmt::format("the figures cannot be kept: {}", cache.why()));
    rt::keep_limits(cache.folder(), identity_of(device->info()), limits);
}

std::string machine_text(const MachineReport& report, const Console& console) {
    std::string text =
        fmt::format("haloc {}, compiled by {} {}\n\n", HALO_VERSION, HALO_COMPILER, HALO_BUILD_TYPE);
    for (const Finding& finding : report.findings) {
        std::string mark =
            console.paint(finding.found ? "found  " : "missing", finding.found ? Tone::good : Tone::warning,
                          console.output_has_colour());
        std::string detail = finding.detail;
        for (std::size_t at = detail.find('\n'); at != std::string::npos; at = detail.find('\n', at + 1)) {
            detail.insert(at + 1, std::string(25, ' '));
        }
        text += fmt::format("  {}  {:<14}  {}\n", mark, finding.title, detail);
    }
    text += fmt::format("\n`haloc run` uses: {}\n", report.best_device);
    if (report.best_device == "interpreter")
        text += "The interpreter is exact but slow: it suits small grids.\n";
    return text + '\n' + explain_figures(report.here);
}

}  // namespace

ExitCode doctor(const DoctorOptions& options, const Console& console) {
    if (options.measure) measure(options, console);
    const MachineReport report = examine_machine();
    if (!options.json) {
        console.result(machine_text(report, console));
        return ExitCode::ok;
    }
    nlohmann::ordered_json json;
    json["version"] = HALO_VERSION;
    for (const Finding& finding : report.findings) {
        json[finding.name] = {{"found", finding.found}, {"detail", finding.detail}};
    }
    json["best_device"] = report.best_device;
    json["figures"] = figures_json(report.here);
    console.result(json_text(json));
    return ExitCode::ok;
}

}  // namespace halo::driver
