// haloc doctor: what is found on this machine, what is missing and how to get it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/commands.h"
#include "compiler/driver/progress.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
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

std::string as_text(const std::vector<Finding>& findings, const std::string& best, const Console& console) {
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
    return text;
}

}  // namespace

ExitCode doctor(const DoctorOptions& options, const Console& console) {
    rt::CudaStatus status = rt::cuda_status();
    std::vector<Finding> findings{find_driver(status), find_devices(status), find_nvrtc(), find_cpu(),
                                  find_cache()};
    std::string best = best_device(findings[1].found && findings[2].found, findings[3].found);
    if (!options.json) {
        console.result(as_text(findings, best, console));
        return ExitCode::ok;
    }
    nlohmann::ordered_json json;
    json["version"] = HALO_VERSION;
    for (const Finding& finding : findings) {
        json[finding.name] = {{"found", finding.found}, {"detail", finding.detail}};
    }
    json["best_device"] = best;
    console.result(json.dump(2) + '\n');
    return ExitCode::ok;
}

}  // namespace halo::driver
