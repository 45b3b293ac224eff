// This processor: C++ through clang, with a loop nest for each stage; there are no variants.
#include <chrono>

#include "compiler/bench/lab.h"
#include "compiler/driver/console/commit.h"
#include "compiler/emit/emit.h"
#include "runtime/core/error.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"

namespace halo::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class CpuLab final : public Lab {
public:
    CpuLab() : device_(rt::make_cpu_device()) {}

    bool is_gpu() const override { return false; }
    rt::Device& device() override { return *device_; }

    MachineFacts facts() override {
        MachineFacts facts;
        facts.name = device_->description();
        facts.software = "C++ through clang, in process";
        facts.commit = driver::commit();
        return facts;
    }

    Variants variants(const ir::Program&, const Extent&, const std::vector<std::string>& asked) override {
        Variants result{{{"cpu", "cpu", {}}}, "cpu", "cpu", {}};
        for (const std::string& each : asked)
            result.refused.push_back(each + ": schedules are for GPUs");
        return result;
    }

    lower::Lowered lower(const ir::Program& program, const Variant&, const Extent&) override {
        return lower::lower_cpu(program);
    }

    std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered) override {
        rt::JitOptions options;
        options.file_name = lowered.plan.name + ".cpp";
        std::vector<std::unique_ptr<rt::Module>> modules;
        modules.push_back(device_->load(rt::compile_object(emit::print_cpp(lowered.kernels), options).bytes,
                                        lowered.plan.name));
        return modules;
    }

    double compile_seconds(const lower::Lowered& lowered) override {
        rt::JitOptions options;
        options.use_cache = false;
        const std::string text = emit::print_cpp(lowered.kernels);
        const Clock::time_point start = Clock::now();
        rt::compile_object(text, options);
        return seconds_since(start);
    }

    double seconds(const std::function<void()>& work) override {
        const Clock::time_point start = Clock::now();
        work();
        device_->synchronize();
        return seconds_since(start);
    }

    void measure_limits(MachineFacts& facts) override {
        constexpr int kRepeats = 7;
        facts.copy_bytes = std::int64_t{128} << 20;  // larger than any cache
        const rt::DeviceMemory from(*device_, facts.copy_bytes), to(*device_, facts.copy_bytes);
        device_->set_bytes(from.address(), 0x3c, facts.copy_bytes);
        std::vector<double> times;
        for (int repeat = 0; repeat <= kRepeats; ++repeat) {
            const double time =
                seconds([&] { device_->copy_on_device(to.address(), from.address(), facts.copy_bytes); });
            if (repeat > 0) times.push_back(time);  // the first one has page faults
        }
        facts.copy_driver = 2.0 * static_cast<double>(facts.copy_bytes) / median(times);
    }

    double core_clock_ghz() override { return 0; }

private:
    std::unique_ptr<rt::Device> device_;
};

}  // namespace

std::unique_ptr<Lab> make_cpu_lab() {
    return std::make_unique<CpuLab>();
}

}  // namespace halo::bench
