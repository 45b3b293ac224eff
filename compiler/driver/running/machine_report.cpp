#include "compiler/driver/running/machine_report.h"

#include <fmt/format.h>

#include "compiler/driver/console/progress.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/movie.h"
#include "runtime/nvrtc/nvrtc.h"
#include "runtime/segy/segy.h"

namespace halo::driver {

namespace {

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

Finding find_segy() {
    const rt::SegyLibrary library = rt::find_segy();
    return {"segy", "SEG-Y", library.found, library.detail};
}

Finding find_movies() {
    const std::string ffmpeg = rt::find_ffmpeg();
    const std::string gif = rt::has_giflib() ? ".gif" : ".gif not: built without giflib";
    return {"movies", "movies", rt::has_giflib() || !ffmpeg.empty(),
            ffmpeg.empty() ? gif + "; .mp4 and .webm not: ffmpeg is not on the PATH"
                           : fmt::format(".mp4 and .webm by {}; {}", ffmpeg, gif)};
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

}  // namespace

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

MachineReport examine_machine() {
    const rt::CudaStatus status = rt::cuda_status();
    MachineReport report;
    report.findings = {find_driver(status), find_devices(status), find_nvrtc(),  find_cpu(),
                       find_hdf5(),         find_segy(),          find_movies(), find_cache()};
    report.best_device =
        best_device(report.findings[1].found && report.findings[2].found, report.findings[3].found);
    report.here = target_here();
    return report;
}

}  // namespace halo::driver
