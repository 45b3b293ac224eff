#include "compiler/bench/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/driver/console/exit_code.h"
#include "runtime/core/error.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::bench {

namespace {

using driver::CommandError;
using driver::ExitCode;

int parse_ordinal(const std::string& device) {
    if (device == "cuda") return 0;
    const std::string digits = device.substr(device.find(':') + 1);
    int ordinal = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0)
        throw CommandError(ExitCode::usage, fmt::format("--device cuda:N wants a number, not `{}`", digits),
                           "`haloc doctor` lists the devices");
    return ordinal;
}

std::unique_ptr<Lab> open_best(std::string& missing) {
    const rt::CudaStatus status = rt::cuda_status();
    if (!status.devices.empty() && rt::Nvrtc::find() != nullptr) return make_cuda_lab(0);
    missing = "no GPU was measured: " + (status.devices.empty() ? status.why : rt::Nvrtc::why_missing());
    if (rt::cpu_available()) return make_cpu_lab();
    throw rt::Error(rt::ErrorCode::no_device, missing + "; and no CPU: " + rt::cpu_unavailable_reason());
}

}  // namespace

std::unique_ptr<Lab> open_lab(const std::string& device, std::string& missing) {
    if (device == "auto") return open_best(missing);
    if (device == "cuda" || device.starts_with("cuda:")) return make_cuda_lab(parse_ordinal(device));
    if (device == "cpu") return make_cpu_lab();
    throw CommandError(ExitCode::usage, fmt::format("nothing can be measured on `{}`", device),
                       "it is one of auto, cuda, cuda:N, cpu");
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

}  // namespace halo::bench
