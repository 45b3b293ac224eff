#include "runtime/limits/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace halo::rt {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kMostCopyBytes = std::int64_t{4} << 30;
constexpr std::int64_t kLeastCopyBytes = std::int64_t{1} << 20;
constexpr std::int64_t kVectorsAThread = 4;  // of copy_in_l2
constexpr int kBlocksAnSm = 4;
constexpr double kL2Share = 0.4;            // of the cache that both arrays fill
constexpr std::int64_t kSmallL2 = 4 << 20;  // where the driver does not say how large it is
constexpr int kSamples = 9;
constexpr int kPattern = 0x3c;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

class Limits {
public:
    Limits(CudaDevice& device, const CompileText& compile)
        : device_(device),
          module_(device.load(compile(kLimitsKernels, "limits.cu"), "limits")),
          timer_(device.make_timer()) {}

    DeviceLimits measure() {
        DeviceLimits limits;
        limits.copy_bandwidth = copy();
        limits.l2_bandwidth = copy_in_l2();
        limits.launch_seconds = launch();
        limits.graph_launch_seconds = launch_in_graph();
        limits.barrier_seconds = barrier();
        return limits;
    }

private:
    std::int64_t sms() const { return std::max(1, device_.info().multiprocessors); }

    Kernel& kernel(const std::string& name) {
        KernelPlan plan;
        plan.name = name;
        plan.threads = {kThreads, 1, 1};
        Kernel* const found = module_->find_kernel(plan);
        if (found == nullptr)
            throw Error(ErrorCode::internal, fmt::format("internal error: there is no kernel '{}'", name));
        return *found;
    }

    // Seconds that some work takes on the device, after it has been done once untimed.
    template <class Work>
    double time(const Work& work) {
        work();
        std::vector<double> seconds;
        for (int sample = 0; sample < kSamples; ++sample) {
            timer_->start();
            work();
            timer_->stop();
            seconds.push_back(timer_->milliseconds() / 1e3);
        }
        const double middle = median(std::move(seconds));
        if (!(middle > 0)) throw Error(ErrorCode::launch_failed, "the device's clock does not run");
        return middle;
    }

    // The last `bytes` of a copy, which began as something else.
    void check_copy(const DeviceMemory& to, std::int64_t bytes) {
        const std::int64_t looked_at = std::min<std::int64_t>(bytes, kLeastCopyBytes);
        std::vector<unsigned char> end(static_cast<std::size_t>(looked_at));
        device_.copy_to_host(end.data(), static_cast<char*>(to.address()) + bytes - looked_at, looked_at);
        if (std::any_of(end.begin(), end.end(), [](unsigned char byte) { return byte != kPattern; }))
            throw Error(ErrorCode::launch_failed, "a copy on the device gave other values than it was given");
    }

    double copy() {
        const std::int64_t free_bytes = device_.memory().free_bytes;
        const std::int64_t bytes =
            std::clamp(free_bytes / 4, kLeastCopyBytes, kMostCopyBytes) / kLeastCopyBytes * kLeastCopyBytes;
        const DeviceMemory from(device_, bytes), to(device_, bytes);
        device_.set_bytes(from.address(), kPattern, bytes);
        device_.set_bytes(to.address(), 0, bytes);
        void* to_address = to.address();
        void* from_address = from.address();
        std::int64_t count = bytes / kVectorBytes;
        void* arguments[] = {&to_address, &from_address, &count};
        Kernel& work = kernel("copy_vectors");
        const double seconds =
            time([&] { device_.launch(work, {(count + kThreads - 1) / kThreads, 1, 1}, arguments); });
        check_copy(to, bytes);
        return 2.0 * static_cast<double>(bytes) / seconds;
    }

    double copy_in_l2() {
        const std::int64_t l2 = device_.info().l2_bytes > 0 ? device_.info().l2_bytes : kSmallL2;
        constexpr std::int64_t kBlockBytes = kThreads * kVectorsAThread * kVectorBytes;
        const auto fitting =
            static_cast<std::int64_t>(kL2Share * static_cast<double>(l2)) / (2 * kBlockBytes);
        const std::int64_t blocks = std::clamp<std::int64_t>(fitting, 1, kBlocksAnSm * sms());
        const std::int64_t bytes = blocks * kBlockBytes;
        const DeviceMemory from(device_, bytes), to(device_, bytes);
        device_.set_bytes(from.address(), kPattern, bytes);
        device_.set_bytes(to.address(), 0, bytes);
        void* to_address = to.address();
        void* from_address = from.address();
        int repeats = 500;
        void* arguments[] = {&to_address, &from_address, &repeats};
        Kernel& work = kernel("copy_in_l2");
        const double seconds = time([&] { device_.launch(work, {blocks, 1, 1}, arguments); });
        check_copy(to, bytes);
        return 2.0 * static_cast<double>(bytes) * repeats / seconds;
    }

    static constexpr int kLaunches = 1000, kRecordedLaunches = 200;

    double launch() {
        Kernel& work = kernel("empty_kernel");
        const double seconds = time([&] {
            for (int n = 0; n < kLaunches; ++n)
                device_.launch(work, {sms(), 1, 1}, nullptr);
        });
        return seconds / kLaunches;
    }

    double launch_in_graph() {
        if (!device_.can_record()) return 0;
        Kernel& work = kernel("empty_kernel");
        device_.begin_recording();
        for (int n = 0; n < kRecordedLaunches; ++n)
            device_.launch(work, {sms(), 1, 1}, nullptr);
        const std::unique_ptr<Recording> recording = device_.end_recording();
        return time([&] { device_.replay(*recording); }) / kRecordedLaunches;
    }

    double barrier() {
        constexpr std::int64_t kWordsBytes = 256;  // the counter and the flag on lines of their own
        const DeviceMemory words(device_, 2 * kWordsBytes);
        void* counter = words.address();
        void* gave_up = static_cast<char*>(words.address()) + kWordsBytes;
        int rounds = 1000;
        void* arguments[] = {&counter, &gave_up, &rounds};
        Kernel& work = kernel("grid_barriers");
        std::vector<double> seconds;
        for (int sample = 0; sample < kSamples; ++sample) {
            device_.set_bytes(words.address(), 0, words.bytes());
            timer_->start();
            device_.launch(work, {sms(), 1, 1}, arguments);
            timer_->stop();
            seconds.push_back(timer_->milliseconds() / 1e3);
            std::uint32_t stuck = 0;
            device_.copy_to_host(&stuck, gave_up, sizeof stuck);
            if (stuck != 0) return 0;
        }
        return median(std::move(seconds)) / rounds;
    }

    CudaDevice& device_;
    std::unique_ptr<Module> module_;
    std::unique_ptr<CudaTimer> timer_;
};

}  // namespace

DeviceLimits measure_limits(CudaDevice& device, const CompileText& compile) {
    return Limits(device, compile).measure();
}

}  // namespace halo::rt
