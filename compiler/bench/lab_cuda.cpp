// A GPU: CUDA text through NVRTC, timed by events on the device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include "compiler/bench/commit.h"
#include "compiler/bench/lab.h"
#include "compiler/driver/machine.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/print.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::bench {

namespace {

// The limits are measured by kernels of our own. bench_clock waits for so many cycles of its SM and says how
// many nanoseconds they took.
constexpr const char* kLimitKernels = R"(
struct alignas(16) Sixteen { unsigned words[4]; };

extern "C" __global__ void bench_copy(const Sixteen* __restrict__ from, Sixteen* __restrict__ to, long long count) {
    const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at];
}

extern "C" __global__ void bench_clock(long long* result, long long cycles) {
    if (threadIdx.x != 0) return;
    unsigned long long start, end;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    const long long first = clock64();
    long long now = first;
    while (now - first < cycles) now = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
    result[0] = now - first;
    result[1] = static_cast<long long>(end - start);
}

// Eight sums a thread, none waiting for another.
template <class Real>
__device__ void multiply_and_add(Real* result, int rounds, Real factor, Real term) {
    Real sums[8];
    for (int n = 0; n < 8; ++n) sums[n] = threadIdx.x + n;
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int n = 0; n < 64; ++n) sums[n % 8] = fma(sums[n % 8], factor, term);
    }
    Real all = 0;
    for (int n = 0; n < 8; ++n) all += sums[n];
    if (all == Real(-1)) result[0] = all;
}
extern "C" __global__ void bench_fma_f32(float* result, int rounds, float factor, float term) {
    multiply_and_add(result, rounds, factor, term);
}
extern "C" __global__ void bench_fma_f64(double* result, int rounds, double factor, double term) {
    multiply_and_add(result, rounds, factor, term);
}
)";

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
        target_ = driver::target_of(device_->info());
        limits_ = device_->load(compile(kLimitKernels, "bench_limits.cu", true), "bench_limits");
    }

    bool is_gpu() const override { return true; }
    rt::Device& device() override { return *device_; }
    MachineFacts facts() override;
    Variants variants(const ir::Program& program, const Extent& extent,
                      const std::vector<std::string>& asked) override;
    lower::Lowered lower(const ir::Program& program, const Variant& variant, const Extent& extent) override;

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
    // One schedule a stage, chosen around what is pinned; none at all where a stage cannot run by it, and why
    // is then said.
    std::vector<schedule::Schedule> choose(const ir::Program& program, const Extent& extent,
                                           const schedule::Pins& pins, std::string& why) const;
    std::vector<schedule::Schedule> naive(const ir::Program& program, const Extent& extent) const;
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
    facts.software = fmt::format("{}CUDA {}.{}, NVRTC {}.{}", release.empty() ? "" : "driver " + release + ", ",
                                 status.driver_version / 1000, status.driver_version % 1000 / 10,
                                 nvrtc_->major(), nvrtc_->minor());
    facts.commit = commit();
    facts.multiprocessors = info.multiprocessors;
    facts.core_clock_ghz = info.core_clock_ghz;
    facts.memory_clock_ghz = info.memory_clock_ghz;
    facts.memory_bus_bits = info.memory_bus_bits;
    return facts;
}

std::vector<schedule::Schedule> CudaLab::choose(const ir::Program& program, const Extent& extent,
                                                const schedule::Pins& pins, std::string& why) const {
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const schedule::Schedule chosen = schedule::choose(program, stage, target_, extent, pins).schedule;
        const std::vector<schedule::Reason> reasons =
            schedule::check(program, stage, chosen, target_, extent);
        for (const schedule::Reason& reason : reasons) {
            if (!reason.limit) continue;
            why = reason.text;
            return {};
        }
        schedules.push_back(chosen);
    }
    return schedules;
}

std::vector<schedule::Schedule> CudaLab::naive(const ir::Program& program, const Extent& extent) const {
    schedule::Pins pins;
    pins.strategy = schedule::Strategy::direct;
    pins.threads = program.rank() == 1 ? std::array<int, 3>{256, 1, 1} : std::array<int, 3>{32, 8, 1};
    pins.cells = {1, 1, 1};
    pins.min_blocks = 0;
    std::string why;
    return choose(program, extent, pins, why);
}

std::string words_of(const std::vector<schedule::Schedule>& schedules, int rank) {
    std::string words;
    for (const schedule::Schedule& each : schedules)
        words += (words.empty() ? "" : "; ") + schedule::print(each, rank);
    return words;
}

Variants CudaLab::variants(const ir::Program& program, const Extent& extent,
                           const std::vector<std::string>& asked) {
    Variants result;
    const auto add = [&](const std::string& name, std::vector<schedule::Schedule> schedules) {
        if (schedules.empty()) return;
        result.all.push_back({name, words_of(schedules, program.rank()), std::move(schedules)});
    };
    add("naive", naive(program, extent));
    std::string why;
    for (const schedule::Strategy strategy : schedule::all_strategies()) {
        schedule::Pins pins;
        pins.strategy = strategy;
        add(schedule::name_of(strategy), choose(program, extent, pins, why));
    }
    for (const std::string& text : asked) {
        const schedule::ParsedSchedule parsed = schedule::parse(text, program.rank());
        why = parsed.mistakes.empty() ? "" : parsed.mistakes.front().message;
        if (parsed.mistakes.empty()) add(text, choose(program, extent, parsed.pins, why));
        if (!why.empty()) result.refused.push_back(text + ": " + why);
        why.clear();
    }
    const std::vector<schedule::Schedule> chosen = choose(program, extent, {}, why);
    for (const Variant& variant : result.all) {
        if (variant.schedules == chosen && variant.name != "naive") result.chosen = variant.name;
        if (!result.chosen.empty()) return result;
    }
    add("chosen", chosen);
    result.chosen = "chosen";
    return result;
}

lower::Lowered CudaLab::lower(const ir::Program& program, const Variant& variant, const Extent& extent) {
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    std::vector<schedule::Schedule> schedules = variant.schedules;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        if (schedule::is_legal(schedule::check(program, stages[s], schedules[s], target_, extent))) continue;
        schedule::Pins pins;
        pins.strategy = schedules[s].strategy;
        schedules[s] = schedule::choose(program, stages[s], target_, extent, pins).schedule;
    }
    return lower::lower_cuda(program, schedules);
}

double CudaLab::fma_rate(const char* name, std::int64_t element) {
    constexpr int kThreads = 256, kBlocksAnSm = 8, kFmasARound = 64, kRepeats = 7;
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
    // Its last bytes, for a copy that has not been made is fast, too.
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
    std::int64_t cycles = 4'000'000;  // two milliseconds: long against the steps of the global timer
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
