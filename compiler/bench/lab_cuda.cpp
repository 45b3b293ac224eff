// A GPU: CUDA text through NVRTC, timed by events on the device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include "compiler/bench/lab.h"
#include "compiler/bench/limit_kernels.h"
#include "compiler/bench/variants.h"
#include "compiler/driver/console/commit.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/fixed_grid.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::bench {

namespace {

constexpr int kCopyThreads = 256;
constexpr std::int64_t kCopyElement = 16;

// "580.65.06" of /proc/driver/nvidia/version, which says so in the midst of other words; empty where it does
// not.
std::string driver_release() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word) {
        const bool is_release = std::count(word.begin(), word.end(), '.') >= 1 &&
                                word.find_first_not_of("0123456789.") == std::string::npos;
        if (is_release) return word;
    }
    return "";
}

rt::KernelPlan plan_of(const char* name, int threads) {
    rt::KernelPlan plan;
    plan.name = name;
    plan.threads = {threads, 1, 1};
    return plan;
}

class CudaLab final : public Lab {
public:
    explicit CudaLab(int ordinal)
        : nvrtc_(rt::Nvrtc::find()),
          device_(rt::open_cuda_device(ordinal)),
          cache_(rt::DiskCache::in_user_folder()) {
        if (nvrtc_ == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
        target_ = driver::target_of(device_->info(), driver::known_limits(device_->info()));
        limits_ = device_->load(compile(limit_kernels(), "bench_limits.cu", true), "bench_limits");
    }

    bool is_gpu() const override { return true; }
    rt::Device& device() override { return *device_; }
    MachineFacts facts() override;
    Variants variants(const ir::Program& program, const Extent& extent,
                      const std::vector<std::string>& asked) override {
        return gpu_variants(program, target_, extent, asked);
    }
    lower::Lowered lower(const ir::Program& program, const Variant& variant, const Extent& extent) override {
        lower::Lowered lowered = lower_variant(program, target_, variant, extent);
        lower::fix_time_block(lowered, extent);  // as a run on that grid does
        return lowered;
    }

    std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered) override {
        std::vector<std::unique_ptr<rt::Module>> modules;
        const std::string text = emit::print_cuda(lowered.kernels);
        modules.push_back(device_->load(compile(text, lowered.plan.name + ".cu", true), lowered.plan.name));
        return modules;
    }

    double compile_seconds(const lower::Lowered& lowered) override {
        const std::string text = emit::print_cuda(lowered.kernels);
        const auto start = std::chrono::steady_clock::now();
        compile(text, lowered.plan.name + ".cu", false);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    double seconds(const std::function<void()>& work) override {
        const auto timer = device_->make_timer();
        timer->start();
        work();
        timer->stop();
        return timer->milliseconds() / 1e3;
    }

    void measure_limits(MachineFacts& facts) override;
    double core_clock_ghz() override;

private:
    std::string compile(const std::string& text, const std::string& name, bool cached) {
        rt::NvrtcOptions options;
        options.arch = device_->info().arch();
        return nvrtc_->compile(text, name, options, cached ? &cache_ : nullptr).cubin;
    }
    double fma_rate(const char* kernel, std::int64_t element);
    double copy_rate(std::int64_t bytes, const std::function<void()>& copy);

    rt::Nvrtc* nvrtc_;
    std::unique_ptr<rt::CudaDevice> device_;
    rt::DiskCache cache_;
    schedule::Target target_;
    std::unique_ptr<rt::Module> limits_;
};

MachineFacts CudaLab::facts() {
    const rt::CudaDeviceInfo& info = device_->info();
    const rt::CudaStatus status = rt::cuda_status();
    MachineFacts facts;
    facts.is_gpu = true;
    facts.name = fmt::format("{}, {}, {} SMs", info.name, info.arch(), info.multiprocessors);
    const std::string release = driver_release();
    facts.software = fmt::format(
        "{}CUDA {}.{}, NVRTC {}.{}", release.empty() ? "" : "driver " + release + ", ",
        status.driver_version / 1000, status.driver_version % 1000 / 10, nvrtc_->major(), nvrtc_->minor());
    facts.commit = driver::commit();
    facts.multiprocessors = info.multiprocessors;
    facts.core_clock_ghz = info.core_clock_ghz;
    facts.memory_clock_ghz = info.memory_clock_ghz;
    facts.memory_bus_bits = info.memory_bus_bits;
    return facts;
}

double CudaLab::fma_rate(const char* name, std::int64_t element) {
    constexpr int kThreads = 256, kBlocksAnSm = 8, kRepeats = 7;
    rt::Kernel* kernel = limits_->find_kernel(plan_of(name, kThreads));
    if (kernel == nullptr) return 0;
    const rt::DeviceMemory memory(*device_, 256);
    void* result = memory.address();
    std::int32_t rounds = 1000;
    float factor = 0.5F, term = 0.25F;
    double wide_factor = 0.5, wide_term = 0.25;
    const bool wide = element == 8;
    void* arguments[] = {&result, &rounds, wide ? static_cast<void*>(&wide_factor) : &factor,
                         wide ? static_cast<void*>(&wide_term) : &term};
    const std::int64_t blocks = std::int64_t{kBlocksAnSm} * device_->info().multiprocessors;
    std::vector<double> times;
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
        const double time = seconds([&] { device_->launch(*kernel, {blocks, 1, 1}, arguments); });
        if (repeat > 0) times.push_back(time);
    }
    return 2.0 * kFmasARound * rounds * kThreads * static_cast<double>(blocks) / median(times);
}

double CudaLab::copy_rate(std::int64_t bytes, const std::function<void()>& copy) {
    constexpr int kRepeats = 9;
    copy();
    std::vector<double> times;
    for (int repeat = 0; repeat < kRepeats; ++repeat)
        times.push_back(seconds(copy));
    return 2.0 * static_cast<double>(bytes) / median(times);
}

void CudaLab::measure_limits(MachineFacts& facts) {
    facts.flops_f32 = fma_rate("bench_fma_f32", 4);
    facts.flops_f64 = fma_rate("bench_fma_f64", 8);
    std::int64_t bytes = std::int64_t{4} << 30;
    while (2 * bytes > device_->memory().free_bytes * 9 / 10)
        bytes /= 2;
    facts.copy_bytes = bytes;
    const rt::DeviceMemory from(*device_, bytes), to(*device_, bytes);
    device_->set_bytes(from.address(), 0x3c, bytes);
    device_->set_bytes(to.address(), 0, bytes);
    rt::Kernel* kernel = limits_->find_kernel(plan_of("bench_copy", kCopyThreads));
    if (kernel == nullptr) throw rt::Error(rt::ErrorCode::internal, "the kernel that copies is missing");
    const void* source = from.address();
    void* destination = to.address();
    std::int64_t count = bytes / kCopyElement;
    void* arguments[] = {&source, &destination, &count};
    const std::int64_t blocks = (count + kCopyThreads - 1) / kCopyThreads;
    facts.copy_kernel = copy_rate(bytes, [&] { device_->launch(*kernel, {blocks, 1, 1}, arguments); });
    // Checks the copy's last bytes, as a copy that was never made is fast, too.
    std::array<unsigned char, 64> tail{};
    device_->copy_to_host(tail.data(), static_cast<char*>(destination) + bytes - 64, 64);
    if (std::any_of(tail.begin(), tail.end(), [](unsigned char byte) { return byte != 0x3c; }))
        throw rt::Error(rt::ErrorCode::internal, "the kernel that copies has not copied");
    facts.copy_driver = copy_rate(bytes, [&] { device_->copy_on_device(destination, source, bytes); });
}

double CudaLab::core_clock_ghz() {
    rt::Kernel* kernel = limits_->find_kernel(plan_of("bench_clock", 32));
    if (kernel == nullptr) return 0;
    const rt::DeviceMemory memory(*device_, 256);
    void* result = memory.address();
    std::int64_t cycles =
        4'000'000;  // two milliseconds: long compared with the resolution of the global timer
    void* arguments[] = {&result, &cycles};
    device_->launch(*kernel, {1, 1, 1}, arguments);
    std::array<std::int64_t, 2> took{};
    device_->copy_to_host(took.data(), result, sizeof took);
    return took[1] > 0 ? static_cast<double>(took[0]) / static_cast<double>(took[1]) : 0;
}

}  // namespace

std::unique_ptr<Lab> make_cuda_lab(int ordinal) {
    return std::make_unique<CudaLab>(ordinal);
}

}  // namespace halo::bench
