// haloc doctor: what is found on this machine, what is missing and how to get it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/support/json_text.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/limits/measure.h"
#include "runtime/limits/store.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

namespace {

struct Finding {
    std::string name;  // for JSON
    std::string title;
    bool found = false;
    std::string detail;  // what was found, or why it is missing and how to get it
};

Finding find_driver(const rt::CudaStatus& status) {
    Finding finding{"cuda_driver", "CUDA driver", status.driver, status.why};
    if (status.driver) {
        finding.detail = fmt::format("supports CUDA {}.{}", status.driver_version / 1000,
                                     status.driver_version % 1000 / 10);
    }
    return finding;
}

Finding find_devices(const rt::CudaStatus& status) {
    Finding finding{"cuda_device", "CUDA device", !status.devices.empty(), status.why};
    if (!finding.found) {
        if (!status.driver) finding.detail = "there is no driver to ask";
        return finding;
    }
    finding.detail.clear();
    for (const rt::CudaDeviceInfo& device : status.devices) {
        if (!finding.detail.empty()) finding.detail += '\n';
        finding.detail +=
            fmt::format("cuda:{} {}, {}, {} SMs, {}", device.ordinal, device.name, device.arch(),
                        device.multiprocessors, format_bytes(static_cast<double>(device.total_bytes)));
    }
    return finding;
}

Finding find_nvrtc() {
    Finding finding{"nvrtc", "NVRTC", false, {}};
    if (rt::Nvrtc* nvrtc = rt::Nvrtc::find()) {
        finding.found = true;
        finding.detail = fmt::format("{}.{}, {}", nvrtc->major(), nvrtc->minor(), nvrtc->path());
    } else {
        finding.detail = rt::Nvrtc::why_missing();
    }
    return finding;
}

Finding find_cpu() {
    Finding finding{"cpu", "CPU back end", rt::cpu_available(), {}};
    finding.detail = finding.found ? rt::make_cpu_device()->description() : rt::cpu_unavailable_reason();
    return finding;
}

Finding find_hdf5() {
    const rt::Hdf5Library library = rt::find_hdf5();
    return {"hdf5", "HDF5", library.found,
            library.detail + (library.found ? "" : "; fields are read and written as .npy without it")};
}

Finding find_cache() {
    rt::DiskCache cache = rt::DiskCache::in_user_folder();
    Finding finding{"cache", "disk cache", cache.usable(), {}};
    finding.detail =
        finding.found
            ? cache.folder().string()
            : cache.why() + "; kernels are compiled anew each time (HALOCLINE_CACHE names another folder)";
    return finding;
}

std::string best_device(bool cuda, bool cpu) {
    if (cuda) return "cuda";
    return cpu ? "cpu" : "interpreter";
}

// Says where the figures are from, and gives them.
std::string explain_figures(const TargetHere& here) {
    std::string origin;
    if (!here.device) {
        origin = "schedules are chosen by figures built in, of an H200, as there is no CUDA device";
    } else if (here.measured) {
        origin = fmt::format("schedules are chosen by figures measured on this {}", here.device->name);
    } else {
        origin =
            "schedules are chosen by figures built in, of an H200; `haloc doctor --measure` measures this "
            "device's own";
    }
    return fmt::format("{}:\n  {}\n", origin, describe_figures(here.target));
}

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

std::string findings_text(const std::vector<Finding>& findings, const std::string& best,
                          const TargetHere& here, const Console& console) {
    std::string text =
        fmt::format("haloc {}, compiled by {} {}\n\n", HALO_VERSION, HALO_COMPILER, HALO_BUILD_TYPE);
    for (const Finding& finding : findings) {
        std::string mark =
            console.paint(finding.found ? "found  " : "missing", finding.found ? Tone::good : Tone::warning,
                          console.output_has_colour());
        std::string detail = finding.detail;
        for (std::size_t at = detail.find('\n'); at != std::string::npos; at = detail.find('\n', at + 1)) {
            detail.insert(at + 1, std::string(25, ' '));
        }
        text += fmt::format("  {}  {:<14}  {}\n", mark, finding.title, detail);
    }
    text += fmt::format("\n`haloc run` uses: {}\n", best);
    if (best == "interpreter") text += "The interpreter is exact but slow: it suits small grids.\n";
    return text + '\n' + explain_figures(here);
}

}  // namespace

ExitCode doctor(const DoctorOptions& options, const Console& console) {
    if (options.measure) measure(options, console);
    rt::CudaStatus status = rt::cuda_status();
    const TargetHere here = target_here();
    std::vector<Finding> findings{find_driver(status), find_devices(status), find_nvrtc(),
                                  find_cpu(),          find_hdf5(),          find_cache()};
    std::string best = best_device(findings[1].found && findings[2].found, findings[3].found);
    if (!options.json) {
        console.result(findings_text(findings, best, here, console));
        return ExitCode::ok;
    }
    nlohmann::ordered_json json;
    json["version"] = HALO_VERSION;
    for (const Finding& finding : findings) {
        json[finding.name] = {{"found", finding.found}, {"detail", finding.detail}};
    }
    json["best_device"] = best;
    json["figures"] = figures_json(here);
    console.result(json_text(json));
    return ExitCode::ok;
}

}  // namespace halo::driver
